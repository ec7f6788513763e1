#include "web/connection/tls_begin.h"

#include <array>
#include <string_view>

#include "web/connection/protocol_detection.h"

namespace halite::web {
namespace {

constexpr std::string_view kTlsWantedLine = "error: this port requires TLS (tls.only)\n";
constexpr std::string_view kTlsWantedHttp =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: "
    "38\r\nConnection: close\r\n\r\nThis port requires https:// (tls.only)";

}  // namespace

boost::asio::awaitable<TlsBegin> begin_tls(ClientConnection& link, const Tls& tls, bool required,
                                           const WebOptions& options, std::int64_t deadline) {
  if (!tls.on()) co_return TlsBegin::kDone;
  constexpr char kHandshake = 0x16;  // RFC 8446, 5.1: the type of a client's first record
  const Result<void> readable = co_await link.wait_readable(deadline, true);
  char first = 0;
  const Result<std::size_t> count = readable ? link.peek(&first, 1) : Result<std::size_t>(0);
  if (!count || *count == 0) co_return TlsBegin::kGone;
  if (first == kHandshake) {
    const Result<void> done =
        co_await link.start_tls(tls.current(), ClientConnection::deadline_in(tls.handshake_ms()));
    co_return done ? TlsBegin::kDone : TlsBegin::kFailed;
  }
  if (!required) co_return TlsBegin::kDone;
  const std::array<char, 1> begin = {first};
  const bool http = detect_protocol({begin.data(), begin.size()}) == Protocol::kHttp;
  (void)co_await link.write(http ? kTlsWantedHttp : kTlsWantedLine, options.write_timeout_ms);
  co_await link.linger(options.linger_timeout_ms);
  co_return TlsBegin::kMissing;
}

}  // namespace halite::web
