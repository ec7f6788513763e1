// Where the options say to listen.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "common/result.h"
#include "web/options.h"

namespace halite::web {

// Opens and binds; it does not listen yet. kInvalidArgument: no such address. kUnavailable: the
// port is taken.
[[nodiscard]] Result<void> bind_acceptor(const WebOptions& options,
                                         boost::asio::ip::tcp::acceptor& acceptor);

}  // namespace halite::web
