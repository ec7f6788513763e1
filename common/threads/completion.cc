#include "common/threads/completion.h"

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace halite {

struct Completion::State {
  std::mutex mutex;
  std::optional<Result<void>> outcome;                   // guarded by mutex
  std::vector<std::move_only_function<void()>> waiters;  // guarded by mutex
};

Completion::Completion() : state_(std::make_shared<State>()) {}

Completion Completion::done() {
  Completion completion;
  completion.finish({});
  return completion;
}

void Completion::finish(Result<void> outcome) const {
  std::vector<std::move_only_function<void()>> waiters;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->outcome) return;
    state_->outcome = std::move(outcome);
    waiters.swap(state_->waiters);
  }
  for (auto& wake : waiters) wake();
}

bool Completion::finished() const {
  const std::lock_guard lock(state_->mutex);
  return state_->outcome.has_value();
}

namespace {

// Starts the wait: keeps the handler, or posts it if the outcome has arrived.
template <class State, class Handler>
void start_wait(const std::shared_ptr<State>& state, Handler handler) {
  // Tracked: a thread that waits until the waiter's context has no work and then destroys it also
  // waits for post() to return. post() still uses the context when the waiter resumes.
  auto executor = boost::asio::prefer(boost::asio::get_associated_executor(handler),
                                      boost::asio::execution::outstanding_work.tracked);
  std::move_only_function<void()> wake = [executor, handler = std::move(handler)]() mutable {
    boost::asio::post(executor, std::move(handler));
  };
  {
    const std::lock_guard lock(state->mutex);
    if (!state->outcome) {
      state->waiters.push_back(std::move(wake));
      return;
    }
  }
  wake();
}

}  // namespace

Task<void> Completion::wait() const {
  const std::shared_ptr<State> state = state_;  // outlives this object
  if (!finished()) {
    auto initiate = [state](auto handler) { start_wait(state, std::move(handler)); };
    auto woken = boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
        initiate, boost::asio::use_awaitable);
    co_await std::move(woken);
  }
  const std::lock_guard lock(state->mutex);
  co_return *state->outcome;
}

}  // namespace halite
