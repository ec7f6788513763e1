// Runs a coroutine to completion on the calling thread, for threads that may block.
#pragma once

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "common/check.h"
#include "common/threads/task.h"

namespace halite {

// Do not call it from a task that already runs here. Other threads must complete what the task
// awaits: nothing else runs on this thread meanwhile.
template <class T>
[[nodiscard]] Result<T> run_here(Task<T> task) {
  // Lives as long as the thread: another thread that posts the last step may still be inside that
  // call when the step has run.
  static thread_local boost::asio::io_context context;
  context.restart();
  Result<T> outcome = fail(Errc::kInternal, "the task never finished");
  boost::asio::co_spawn(context, std::move(task),
                        [&outcome](const std::exception_ptr& thrown, Result<T> result) {
                          HALITE_CHECK(!thrown, "a task threw");
                          outcome = std::move(result);
                        });
  context.run();
  return outcome;
}

}  // namespace halite
