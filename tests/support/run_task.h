// Runs coroutines to their end from a plain test body.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "common/threads/task.h"

namespace halite::test {

// On the calling thread.
void run_to_end(boost::asio::awaitable<void> work);
// All at once on `threads` threads.
void run_to_end(std::vector<boost::asio::awaitable<void>> works, std::size_t threads);

template <class T>
boost::asio::awaitable<void> keep_outcome(Task<T> task, Result<T>& outcome) {
  outcome = co_await std::move(task);
}

template <class T>
Result<T> run_task(Task<T> task) {
  Result<T> outcome = fail(Errc::kInternal, "the task never finished");
  run_to_end(keep_outcome(std::move(task), outcome));
  return outcome;
}

// The outcomes in the order of the tasks.
template <class T>
std::vector<Result<T>> run_tasks(std::vector<Task<T>> tasks, std::size_t threads) {
  std::vector<Result<T>> outcomes(tasks.size(), fail(Errc::kInternal, "the task never finished"));
  std::vector<boost::asio::awaitable<void>> works;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    works.push_back(keep_outcome(std::move(tasks[i]), outcomes[i]));
  }
  run_to_end(std::move(works), threads);
  return outcomes;
}

}  // namespace halite::test
