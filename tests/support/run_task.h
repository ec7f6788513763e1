// Runs coroutines to their end from a plain test body.
#pragma once

#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/check.h"
#include "common/task.h"

namespace halite::test {

// On the calling thread. The context stays until the thread ends: another thread that has just
// posted the last step to it may still be inside that call when the step is done.
template <class T>
Result<T> run_task(Task<T> task) {
  static thread_local boost::asio::io_context context;
  context.restart();
  Result<T> outcome = fail(Errc::kInternal, "the task never finished");
  boost::asio::co_spawn(context, std::move(task),
                        [&outcome](const std::exception_ptr& thrown, Result<T> result) {
                          HALITE_CHECK(!thrown, "a task of the test threw");
                          outcome = std::move(result);
                        });
  context.run();
  return outcome;
}

// All at once on `threads` threads; the outcomes in the order of the tasks.
template <class T>
std::vector<Result<T>> run_tasks(std::vector<Task<T>> tasks, std::size_t threads) {
  boost::asio::thread_pool pool(threads);
  std::vector<Result<T>> outcomes(tasks.size(), fail(Errc::kInternal, "the task never finished"));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    boost::asio::co_spawn(
        pool, std::move(tasks[i]),
        [&outcome = outcomes[i]](const std::exception_ptr& thrown, Result<T> result) {
          HALITE_CHECK(!thrown, "a task of the test threw");
          outcome = std::move(result);
        });
  }
  pool.join();
  return outcomes;
}

}  // namespace halite::test
