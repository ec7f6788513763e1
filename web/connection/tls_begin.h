// The start of a connection: TLS if the client's first byte says so.
#pragma once

#include <cstdint>

#include <boost/asio/awaitable.hpp>

#include "web/connection/client_connection.h"
#include "web/connection/tls.h"
#include "web/options.h"

namespace halite::web {

enum class TlsBegin : std::uint8_t {
  kDone,     // with TLS, or without it if allowed
  kGone,     // the client sent nothing
  kFailed,   // the client's TLS is invalid or incompatible
  kMissing,  // tls.only: the client did not use TLS and got an error
};

// In all cases but kDone, close the connection. `link`, TLS and options outlive the task.
// `required`: no connection without TLS.
[[nodiscard]] boost::asio::awaitable<TlsBegin> begin_tls(ClientConnection& link, const Tls& tls,
                                                         bool required, const WebOptions& options,
                                                         std::int64_t deadline);

}  // namespace halite::web
