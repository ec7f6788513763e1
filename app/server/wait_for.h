// Runs a task to completion from a thread outside the executor, for start and stop.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "common/threads/task.h"

namespace halite::app {

template <class T>
Result<T> wait_for(const boost::asio::any_io_executor& executor, Task<T> task) {
  return boost::asio::co_spawn(executor, std::move(task), boost::asio::use_future).get();
}

}  // namespace halite::app
