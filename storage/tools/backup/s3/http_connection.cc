#include "storage/tools/backup/s3/http_connection.h"

// clang-format off
#include "common/boost_assertions.h"  // before Beast
// clang-format on

#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/check.h"
#include "common/threads/task.h"
#include "common/tls/client_tls.h"

namespace halite::storage::backup {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using TlsStream = ssl::stream<beast::tcp_stream>;
using Message = http::request<http::span_body<const char>>;
using Parser = http::response_parser<http::string_body>;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kLook{50};            // at `ended`, while a request runs
constexpr std::chrono::milliseconds kLastSilence{3'000};  // of requests after the end
constexpr std::size_t kReadBytes = 64 << 10;              // of the socket at a time
constexpr std::uint32_t kHeaderBytesMax = 64 << 10;

class BeastConnection final : public HttpConnection {
 public:
  BeastConnection(HttpConnectionOptions options, std::shared_ptr<ssl::context> tls)
      : options_(std::move(options)), tls_(std::move(tls)) {}

  Result<HttpAnswer> exchange(const HttpRequest& request) override {
    Result<HttpAnswer> answer = run(request);
    if (!answer) close();
    return answer;
  }

  [[nodiscard]] bool was_reused() const override { return reused_; }

 private:
  Result<HttpAnswer> run(const HttpRequest& request) {
    patience_ = std::chrono::milliseconds(options_.silence_ms);
    if (request.last) patience_ = std::min(patience_, kLastSilence);
    bool done = false;
    Result<HttpAnswer> answer = fail(Errc::kInternal, "the request never finished");
    asio::co_spawn(context_, carry(request),
                   [&](const std::exception_ptr& thrown, Result<HttpAnswer> result) {
                     HALITE_CHECK(!thrown, "a request threw");
                     answer = std::move(result);
                     done = true;
                   });
    bool cancelled = false;
    context_.restart();
    while (!done) {
      context_.run_for(kLook);
      if (done || cancelled || request.last || !options_.ended || !options_.ended()) continue;
      cancelled = true;
      if (stream() != nullptr) stream()->cancel();
    }
    if (cancelled) return fail(Errc::kCancelled, "stopped");
    return answer;
  }

  // The request outlives the coroutine.
  Task<HttpAnswer> carry(const HttpRequest& request) {
    reused_ = stream() != nullptr;
    if (!reused_) {
      Result<void> connected = co_await connect();
      if (!connected) co_return std::unexpected(std::move(connected).error());
    }
    if (secure_ != nullptr) co_return co_await talk(*secure_, request);
    co_return co_await talk(*plain_, request);
  }

  Task<void> connect() {
    const S3Endpoint& server = options_.server;
    tcp::resolver resolver(context_);
    auto [unknown, found] = co_await resolver.async_resolve(server.host, server.port, kAsTuple);
    if (unknown) co_return trouble(unknown);
    if (tls_ != nullptr) {
      secure_ = std::make_unique<TlsStream>(context_.get_executor(), *tls_);
    } else {
      plain_ = std::make_unique<beast::tcp_stream>(context_.get_executor());
    }
    stream()->expires_after(std::min(patience_, std::chrono::milliseconds(options_.connect_ms)));
    auto [refused, reached] = co_await stream()->async_connect(found, kAsTuple);
    if (refused) co_return trouble(refused);
    boost::system::error_code ignored;  // an option that only saves time
    stream()->socket().set_option(tcp::no_delay(true), ignored);
    if (secure_ == nullptr) co_return Result<void>();
    CO_TRY_VOID(require_host(secure_->native_handle(), server.host));
    auto [untrusted] = co_await secure_->async_handshake(ssl::stream_base::client, kAsTuple);
    if (!untrusted) co_return Result<void>();
    const std::string why = certificate_trouble(secure_->native_handle());
    if (why.empty()) co_return trouble(untrusted);
    co_return fail(Errc::kUnauthenticated, fmt::format("the certificate of {} is not trusted: {}",
                                                       options_.server.authority(), why));
  }

  template <class Stream>
  Task<HttpAnswer> talk(Stream& stream, const HttpRequest& request) {
    Message message;
    message.version(11);
    message.method_string(request.method);
    message.target(request.target);
    for (const auto& [name, value] : request.headers) message.set(name, value);
    message.set(http::field::user_agent, "halite");
    message.body() = {request.body.data(), request.body.size()};
    if (!request.body.empty() || request.method == "PUT" || request.method == "POST") {
      message.content_length(request.body.size());
    }
    // A server that refuses may answer and close before it has read the body.
    const boost::system::error_code unsent = co_await send(stream, message);
    Parser parser;
    parser.header_limit(kHeaderBytesMax);
    parser.body_limit(request.answer_bytes_max);
    parser.eager(true);
    beast::flat_buffer buffer;
    buffer.reserve(kReadBytes);
    while (!parser.is_done()) {
      beast::get_lowest_layer(stream).expires_after(patience_);
      auto [unread, bytes] = co_await http::async_read_some(stream, buffer, parser, kAsTuple);
      if (unread == http::error::body_limit) {
        co_return fail(Errc::kTooLarge,
                       fmt::format("{} answers more than {} bytes", options_.server.authority(),
                                   request.answer_bytes_max));
      }
      if (unread) co_return trouble(unsent ? unsent : unread);
    }
    if (unsent || !parser.get().keep_alive()) close();
    co_return answer_of(parser.release());
  }

  template <class Stream>
  asio::awaitable<boost::system::error_code> send(Stream& stream, Message& message) {
    http::request_serializer<http::span_body<const char>> serializer(message);
    while (!serializer.is_done()) {
      beast::get_lowest_layer(stream).expires_after(patience_);
      auto [unsent, bytes] = co_await http::async_write_some(stream, serializer, kAsTuple);
      if (unsent) co_return unsent;
    }
    co_return boost::system::error_code();
  }

  static HttpAnswer answer_of(http::response<http::string_body> response) {
    HttpAnswer answer;
    answer.status = response.result_int();
    for (const auto& field : response) {
      answer.headers[to_lower(std::string_view(field.name_string()))] = field.value();
    }
    answer.body = std::move(response.body());
    return answer;
  }

  [[nodiscard]] std::unexpected<Error> trouble(const boost::system::error_code& what) const {
    const std::string where = options_.server.authority();
    if (what == beast::error::timeout) {
      return fail(Errc::kTimeout, fmt::format("{} was silent for too long", where));
    }
    return fail(Errc::kUnavailable, fmt::format("{}: {}", where, what.message()));
  }

  [[nodiscard]] beast::tcp_stream* stream() {
    return secure_ != nullptr ? &beast::get_lowest_layer(*secure_) : plain_.get();
  }
  void close() {
    secure_.reset();
    plain_.reset();
  }

  const HttpConnectionOptions options_;
  const std::shared_ptr<ssl::context> tls_;  // null: http
  asio::io_context context_{1};
  std::unique_ptr<beast::tcp_stream> plain_;  // at most one of the two, after the context
  std::unique_ptr<TlsStream> secure_;
  std::chrono::milliseconds patience_{};  // with a silent server, in the current request
  bool reused_ = false;
};

}  // namespace

std::string HttpAnswer::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

Result<std::unique_ptr<HttpConnection>> HttpConnection::make(HttpConnectionOptions options) {
  std::shared_ptr<ssl::context> tls;
  if (options.server.secure) {
    TRY(tls, make_client_tls(options.ca_file));
  }
  return std::make_unique<BeastConnection>(std::move(options), std::move(tls));
}

}  // namespace halite::storage::backup
