#include "storage/backends/hbase/bulk_load/http_call.h"

// clang-format off
#include "common/boost_assertions.h"  // before Beast
// clang-format on

#include <chrono>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "storage/backends/hbase/rpc/transport.h"

namespace halite::storage::hbase {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kBodyBytesMax = 1 << 20;
constexpr unsigned kStatusOk = 200;  // answers below are not the last one

std::unexpected<Error> trouble(const HttpTarget& target, const boost::system::error_code& what) {
  if (what == beast::error::timeout) {
    return fail(Errc::kTimeout, fmt::format("{} did not answer within {} ms",
                                            to_text(target.server), target.timeout_ms));
  }
  return fail(Errc::kUnavailable, fmt::format("{}: {}", to_text(target.server), what.message()));
}

// A connection with one request.
class Exchange final : public HttpUpload {
 public:
  Exchange(const asio::any_io_executor& executor, HttpTarget target)
      : target_(std::move(target)), stream_(executor) {}

  Task<void> connect() {
    tcp::resolver resolver(stream_.get_executor());
    const std::string port = std::to_string(target_.server.port);
    auto [unknown, found] = co_await resolver.async_resolve(target_.server.host, port, kAsTuple);
    if (unknown) co_return trouble(target_, unknown);
    start_step();
    auto [refused, reached] = co_await stream_.async_connect(found, kAsTuple);
    if (refused) co_return trouble(target_, refused);
    co_return Result<void>();
  }

  Task<void> begin(http::verb verb, bool pieces) {
    http::request<http::empty_body> request(verb, target_.path, 11);
    request.set(http::field::host, to_text(target_.server));
    request.set(http::field::user_agent, "halite");
    request.keep_alive(false);
    if (pieces) {
      request.chunked(true);
      request.set(http::field::content_type, "application/octet-stream");
    } else if (verb == http::verb::put) {
      request.content_length(0);
    }
    http::request_serializer<http::empty_body> serializer(request);
    start_step();
    auto [unsent, sent] = co_await http::async_write_header(stream_, serializer, kAsTuple);
    if (unsent) co_return trouble(target_, unsent);
    co_return Result<void>();
  }

  Task<void> write(Bytes piece) override {
    if (piece.empty()) co_return Result<void>();  // it would end the body
    const auto chunk = http::make_chunk(asio::buffer(piece));
    start_step();
    auto [unsent, sent] = co_await asio::async_write(stream_, chunk, kAsTuple);
    if (unsent) co_return trouble(target_, unsent);
    co_return Result<void>();
  }

  Task<HttpAnswer> finish() override {
    start_step();
    auto [unsent, sent] = co_await asio::async_write(stream_, http::make_chunk_last(), kAsTuple);
    if (unsent) co_return trouble(target_, unsent);
    co_return co_await read_answer();
  }

  // DataNodes send 100 (Continue) to each upload, even if it is not asked for.
  Task<HttpAnswer> read_answer() {
    beast::flat_buffer buffer;
    for (;;) {
      http::response_parser<http::string_body> parser;
      parser.body_limit(kBodyBytesMax);
      start_step();
      auto [unread, bytes] = co_await http::async_read(stream_, buffer, parser, kAsTuple);
      if (unread) co_return trouble(target_, unread);
      const auto& response = parser.get();
      if (response.result_int() < kStatusOk) continue;
      co_return HttpAnswer{.status = response.result_int(),
                           .location = response[http::field::location],
                           .body = response.body()};
    }
  }

 private:
  void start_step() { stream_.expires_after(std::chrono::milliseconds(target_.timeout_ms)); }

  const HttpTarget target_;
  beast::tcp_stream stream_;
};

http::verb verb_of(HttpMethod method) {
  switch (method) {
    case HttpMethod::kGet:
      return http::verb::get;
    case HttpMethod::kPut:
      return http::verb::put;
    case HttpMethod::kDelete:
      return http::verb::delete_;
  }
  return http::verb::get;
}

}  // namespace

Task<HttpAnswer> call_http(HttpMethod method, HttpTarget target) {
  Exchange exchange(co_await asio::this_coro::executor, std::move(target));
  CO_TRY_VOID(co_await exchange.connect());
  CO_TRY_VOID(co_await exchange.begin(verb_of(method), false));
  co_return co_await exchange.read_answer();
}

Task<std::unique_ptr<HttpUpload>> HttpUpload::open(HttpTarget target) {
  auto exchange = std::make_unique<Exchange>(co_await asio::this_coro::executor, std::move(target));
  CO_TRY_VOID(co_await exchange->connect());
  CO_TRY_VOID(co_await exchange->begin(http::verb::put, true));
  co_return std::unique_ptr<HttpUpload>(std::move(exchange));
}

}  // namespace halite::storage::hbase
