#include "app/client/http_client.h"

// clang-format off
#include "common/boost_assertions.h"  // before Beast
// clang-format on

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/tls/client_tls.h"

namespace halite::app {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;
using TlsStream = ssl::stream<beast::tcp_stream>;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

Error trouble(const ServerUrl& server, const HttpLimits& limits,
              const boost::system::error_code& what) {
  const std::string where = authority(server);
  if (what == beast::error::timeout) {
    return {Errc::kTimeout,
            fmt::format("{} did not answer within {} ms", where, limits.timeout_ms),
            {}};
  }
  if (what == http::error::body_limit) {
    return {Errc::kTooLarge,
            fmt::format("{} answered more than {} bytes", where, limits.body_bytes_max),
            {}};
  }
  return {Errc::kUnavailable, fmt::format("{}: {}", where, what.message()), {}};
}

Request request_for(const Peer& peer, HttpRequest asked) {
  Request request;
  request.version(11);
  request.method(asked.body.empty() ? http::verb::get : http::verb::post);
  request.target(peer.url.prefix + asked.target);
  request.set(http::field::host, authority(peer.url));
  request.set(http::field::user_agent, "halite");
  if (!peer.token.empty()) {
    request.set(http::field::authorization, fmt::format("Bearer {}", peer.token));
  }
  request.keep_alive(false);
  for (const HttpHeader& header : asked.headers) request.set(header.name, header.value);
  if (!asked.body.empty()) {
    request.set(http::field::content_type, asked.content_type);
    request.body() = std::move(asked.body);
    request.prepare_payload();
  }
  return request;
}

Task<void> shake_hands(std::shared_ptr<TlsStream> stream, Peer peer, HttpLimits limits) {
  CO_TRY_VOID(require_host(stream->native_handle(), peer.url.host));
  auto [unknown] = co_await stream->async_handshake(ssl::stream_base::client, kAsTuple);
  if (unknown) co_return std::unexpected(trouble(peer.url, limits, unknown));
  co_return Result<void>();
}

template <class Stream>
Task<Response> exchange(std::shared_ptr<Stream> stream, Peer peer, Request request,
                        HttpLimits limits) {
  auto [unsent, sent] = co_await http::async_write(*stream, request, kAsTuple);
  if (unsent) co_return std::unexpected(trouble(peer.url, limits, unsent));
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(limits.body_bytes_max);
  auto [unread, bytes] = co_await http::async_read(*stream, buffer, parser, kAsTuple);
  if (unread) co_return std::unexpected(trouble(peer.url, limits, unread));
  co_return parser.release();
}

}  // namespace

Result<Peer> make_peer(std::string_view url, const PeerFiles& files, UrlPorts ports) {
  Peer peer;
  TRY(peer.url, parse_server_url(url, ports));
  if (peer.url.secure) {
    TRY(peer.tls, make_client_tls(files.ca));
  }
  if (files.token.empty()) return peer;
  std::ifstream in(files.token);
  if (!in) {
    return fail(Errc::kNotFound,
                fmt::format("cannot read {}: {}", files.token, std::strerror(errno)));
  }
  std::string line;
  std::getline(in, line);
  std::string_view token = trim(line, kCBlanks);
  // As `halite auth token` prints it.
  if (token.starts_with("# ")) token = trim(token.substr(2), kCBlanks);
  if (token.empty()) {
    return fail(Errc::kNotFound,
                fmt::format("{} contains no token in its first line", files.token));
  }
  peer.token = token;
  return peer;
}

Task<HttpReply> send_http(Peer peer, HttpRequest asked, HttpLimits limits) {
  const auto began = std::chrono::steady_clock::now();
  const auto executor = co_await asio::this_coro::executor;
  tcp::resolver resolver(executor);
  auto [unknown, found] = co_await resolver.async_resolve(peer.url.host, peer.url.port, kAsTuple);
  if (unknown) co_return std::unexpected(trouble(peer.url, limits, unknown));
  beast::tcp_stream stream(executor);
  stream.expires_after(std::chrono::milliseconds(limits.timeout_ms));
  auto [refused, reached] = co_await stream.async_connect(found, kAsTuple);
  if (refused) co_return std::unexpected(trouble(peer.url, limits, refused));

  Request request = request_for(peer, std::move(asked));
  Result<Response> response;
  if (peer.tls) {
    const auto secure = std::make_shared<TlsStream>(std::move(stream), *peer.tls);
    CO_TRY_VOID(co_await shake_hands(secure, peer, limits));
    response = co_await exchange(secure, peer, std::move(request), limits);
  } else {
    response = co_await exchange(std::make_shared<beast::tcp_stream>(std::move(stream)), peer,
                                 std::move(request), limits);
  }
  if (!response) co_return std::unexpected(response.error());

  const auto took = std::chrono::steady_clock::now() - began;
  HttpReply reply;
  reply.status = response->result_int();
  reply.retry_after = (*response)[http::field::retry_after];
  reply.body = std::move(response->body());
  reply.took_ms = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  co_return reply;
}

}  // namespace halite::app
