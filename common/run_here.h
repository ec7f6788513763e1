// Runs a coroutine to its end on the calling thread, for threads that may block.
#pragma once

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "common/check.h"
#include "common/task.h"

namespace halite {

// Not from within a task that runs so itself. What the task awaits must come from elsewhere:
// nothing else runs on this thread meanwhile.
template <class T>
[[nodiscard]] Result<T> run_here(Task<T> task) {
  // Stays until the thread ends: another thread that has just posted the last step to it may still
  // be inside that call when the step is done.
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
