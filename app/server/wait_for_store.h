// Waits for a remote store that may not be available at the start.
#pragma once

#include <chrono>
#include <functional>

#include <boost/asio/any_io_executor.hpp>

#include "app/settings/options.h"
#include "common/clock.h"

namespace halite::app {

// Sleeps for that time, or returns at once for 0. False when the server must stop.
using Pause = std::function<bool(std::chrono::milliseconds)>;

// Checks for a few seconds whether a store in HBase answers. Returns at once for local stores. Do
// not call it from the executor's threads.
[[nodiscard]] Result<void> ping_store(const Options& options, const Clock& clock,
                                      const boost::asio::any_io_executor& executor);

// True if a retry may succeed.
[[nodiscard]] bool may_pass(const Error& error);

}  // namespace halite::app
