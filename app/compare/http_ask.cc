#include "app/compare/http_ask.h"

#include <chrono>
#include <fstream>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

namespace halite::app {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kScheme = "http://";

Error trouble(const ServerUrl& server, const HttpLimits& limits,
              const boost::system::error_code& what) {
  const std::string where = fmt::format("{}:{}", server.host, server.port);
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

http::request<http::string_body> request_for(const ServerUrl& server, Asked asked) {
  http::request<http::string_body> request;
  request.version(11);
  request.method(asked.body.empty() ? http::verb::get : http::verb::post);
  request.target(server.prefix + asked.target);
  request.set(http::field::host, fmt::format("{}:{}", server.host, server.port));
  request.set(http::field::user_agent, "halite compare");
  if (!server.token.empty()) {
    request.set(http::field::authorization, fmt::format("Bearer {}", server.token));
  }
  request.keep_alive(false);
  if (!asked.body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = std::move(asked.body);
    request.prepare_payload();
  }
  return request;
}

}  // namespace

Result<ServerUrl> parse_server_url(std::string_view text) {
  const auto bad = [text](std::string_view why) {
    return fail(Errc::kInvalidArgument,
                fmt::format("bad URL \"{}\": {}; http://HOST[:PORT] is wanted", text, why));
  };
  if (!text.starts_with(kScheme)) return bad("no http://");
  std::string_view rest = text.substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  ServerUrl url;
  url.prefix = rest.substr(slash);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  if (url.prefix.find_first_of("?# ") != std::string::npos) return bad("more than a path");
  rest = rest.substr(0, slash);
  if (rest.contains('@')) {
    return fail(Errc::kInvalidArgument,
                "a URL with a name or a password in it is not taken; http://HOST[:PORT] is wanted");
  }
  const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == std::string_view::npos) return bad("no ]");
  const std::size_t colon = rest.find(':', bracket);
  url.port = colon == std::string_view::npos ? "4242" : rest.substr(colon + 1);
  url.host = rest.substr(0, colon);
  if (bracket != 0) url.host = rest.substr(1, bracket - 1);
  if (url.host.empty()) return bad("no host");
  const bool number = !url.port.empty() && url.port.size() <= 5 &&
                      url.port.find_first_not_of("0123456789") == std::string::npos;
  if (!number || std::stoul(url.port) == 0 || std::stoul(url.port) > 65535) return bad("no port");
  return url;
}

Result<ServerUrl> server_with_token(std::string_view url, const std::string& token_file) {
  TRY(ServerUrl server, parse_server_url(url));
  if (token_file.empty()) return server;
  std::ifstream in(token_file);
  if (!std::getline(in, server.token) || server.token.empty()) {
    return fail(Errc::kNotFound, fmt::format("there is no token in {}", token_file));
  }
  return server;
}

Task<HttpReply> ask_http(ServerUrl server, Asked asked, HttpLimits limits) {
  const auto began = std::chrono::steady_clock::now();
  const auto executor = co_await asio::this_coro::executor;
  tcp::resolver resolver(executor);
  auto [unknown, found] = co_await resolver.async_resolve(server.host, server.port, kAsTuple);
  if (unknown) co_return std::unexpected(trouble(server, limits, unknown));
  beast::tcp_stream stream(executor);
  stream.expires_after(std::chrono::milliseconds(limits.timeout_ms));
  auto [refused, reached] = co_await stream.async_connect(found, kAsTuple);
  if (refused) co_return std::unexpected(trouble(server, limits, refused));

  const http::request<http::string_body> request = request_for(server, std::move(asked));
  auto [unsent, sent] = co_await http::async_write(stream, request, kAsTuple);
  if (unsent) co_return std::unexpected(trouble(server, limits, unsent));
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(limits.body_bytes_max);
  auto [unread, bytes] = co_await http::async_read(stream, buffer, parser, kAsTuple);
  if (unread) co_return std::unexpected(trouble(server, limits, unread));

  const auto took = std::chrono::steady_clock::now() - began;
  HttpReply reply;
  reply.status = parser.get().result_int();
  reply.body = std::move(parser.get().body());
  reply.took_ms = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  co_return reply;
}

}  // namespace halite::app
