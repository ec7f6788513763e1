// Where the options say to listen, and what accept loops have in common.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/result.h"
#include "web/options.h"

namespace halite::web {

// Opens and binds; it does not listen yet. kInvalidArgument: no such address. kUnavailable: the
// port is taken.
[[nodiscard]] Result<void> bind_acceptor(const WebOptions& options,
                                         boost::asio::ip::tcp::acceptor& acceptor);

// After an accept that failed, for want of descriptors most likely. Later there may be some; until
// then the loop would spin. Logs the error and waits, or until the timer is cancelled.
[[nodiscard]] boost::asio::awaitable<void> pause_accepting(boost::asio::steady_timer& timer,
                                                           boost::system::error_code error);

}  // namespace halite::web
