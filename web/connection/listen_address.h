// Listening addresses, and helpers for accept loops.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/result.h"
#include "web/options.h"

namespace halite::web {

// Opens and binds, but does not listen yet. kInvalidArgument: no such address. kUnavailable: the
// port is in use.
[[nodiscard]] Result<void> bind_acceptor(const ListenAddress& address,
                                         boost::asio::ip::tcp::acceptor& acceptor);

// For an accept that failed, probably without free descriptors: retrying at once would spin. Logs
// the error and waits, at most until the timer is cancelled.
[[nodiscard]] boost::asio::awaitable<void> pause_accepting(boost::asio::steady_timer& timer,
                                                           boost::system::error_code error);

}  // namespace halite::web
