// How a connection begins: with TLS where the client's first byte says so.
#pragma once

#include <cstdint>

#include <boost/asio/awaitable.hpp>

#include "web/client_connection.h"
#include "web/options.h"
#include "web/tls.h"

namespace halite::web {

enum class TlsBegin : std::uint8_t {
  kDone,     // with TLS, or without it where that may be
  kGone,     // nothing came
  kFailed,   // the client speaks TLS wrongly, or not with us
  kMissing,  // tls.only: the client was told that it is wanted
};

// In all but the first case there is nothing left but to close the link. Link, TLS and options
// outlive the await.
[[nodiscard]] boost::asio::awaitable<TlsBegin> begin_tls(ClientConnection& link, const Tls& tls,
                                                         const WebOptions& options,
                                                         std::int64_t deadline);

}  // namespace halite::web
