// Waiting for a store that is elsewhere, and may not be there yet when the server starts.
#pragma once

#include <chrono>
#include <functional>

#include <boost/asio/any_io_executor.hpp>

#include "app/options.h"
#include "common/clock.h"

namespace halite::app {

// Sleeps so long, or only looks; false when the server is told to end meanwhile.
using Pause = std::function<bool(std::chrono::milliseconds)>;

// Whether a store in HBase answers, within some seconds. At once for stores of this machine. The
// executor's threads are not the caller's.
[[nodiscard]] Result<void> ping_store(const Options& options, const Clock& clock,
                                      const boost::asio::any_io_executor& executor);

// Whether waiting may help.
[[nodiscard]] bool may_pass(const Error& error);

}  // namespace halite::app
