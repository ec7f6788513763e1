// Runs several tasks concurrently. Returns their outcomes in the order of the tasks.
//
//   std::vector<Task<int>> tasks;
//   std::vector<Result<int>> outcomes = co_await gather(std::move(tasks), 64);
//
//   Threads  the tasks run on the awaiter's executor; on a pool they run in parallel.
//   Order    started in order; at most in_flight_max at a time.
//   Errors   an error of one task does not stop the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "common/threads/completion.h"
#include "common/threads/task.h"

namespace halite {

namespace gather_detail {

template <class T>
struct State {
  explicit State(std::vector<Task<T>> list) : tasks(std::move(list)) {
    outcomes.reserve(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      outcomes.push_back(fail(Errc::kCancelled, "stopped before it was finished"));
    }
  }
  std::vector<Task<T>> tasks;
  std::vector<Result<T>> outcomes;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> workers = 0;
  Completion done;
};

// Counts down when the worker ends, even if its coroutine is destroyed unfinished.
template <class T>
class Worker {
 public:
  explicit Worker(std::shared_ptr<State<T>> state) : state_(std::move(state)) {}
  Worker(Worker&&) = default;
  Worker& operator=(Worker&&) = delete;
  ~Worker() {
    if (state_ != nullptr && --state_->workers == 0) state_->done.finish({});
  }
  State<T>* operator->() const { return state_.get(); }

 private:
  std::shared_ptr<State<T>> state_;
};

// Begins with a post, because co_spawn() on the thread of the caller would run everything up to the
// first suspension there, one task after the other.
template <class T>
boost::asio::awaitable<void> work(Worker<T> worker) {
  const auto executor = co_await boost::asio::this_coro::executor;
  co_await boost::asio::post(executor, boost::asio::use_awaitable);
  for (;;) {
    const std::size_t index = worker->next++;
    if (index >= worker->tasks.size()) co_return;
    Task<T> task = std::move(worker->tasks[index]);
    worker->outcomes[index] = co_await std::move(task);
  }
}

}  // namespace gather_detail

template <class T>
boost::asio::awaitable<std::vector<Result<T>>> gather(std::vector<Task<T>> tasks,
                                                      std::size_t in_flight_max) {
  std::vector<Result<T>> outcomes;
  if (tasks.size() == 1) {
    Task<T> only = std::move(tasks.front());
    Result<T> outcome = co_await std::move(only);
    outcomes.push_back(std::move(outcome));
  } else if (!tasks.empty()) {
    const std::size_t count = std::min(tasks.size(), std::max<std::size_t>(1, in_flight_max));
    auto state = std::make_shared<gather_detail::State<T>>(std::move(tasks));
    const auto executor = co_await boost::asio::this_coro::executor;
    state->workers = count;
    for (std::size_t i = 0; i < count; ++i) {
      gather_detail::Worker<T> worker(state);
      boost::asio::co_spawn(executor, gather_detail::work<T>(std::move(worker)),
                            boost::asio::detached);
    }
    Task<void> finished = state->done.wait();
    const Result<void> woken = co_await std::move(finished);
    static_cast<void>(woken);  // never fails: the outcomes hold the errors
    outcomes = std::move(state->outcomes);
  }
  co_return outcomes;
}

}  // namespace halite
