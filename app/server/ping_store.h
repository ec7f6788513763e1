// Whether a store that is elsewhere answers, before it is opened.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "app/settings/options.h"
#include "common/clock.h"
#include "common/result.h"

namespace halite::app {

// Checks for a few seconds whether a store in HBase answers. Returns at once for local stores. Do
// not call it from the executor's threads.
Result<void> ping_store(const Options& options, const Clock& clock,
                        const boost::asio::any_io_executor& executor);

}  // namespace halite::app
