#include "storage/tools/backup/s3/http_connection.h"

// clang-format off
#include "common/boost_assertions.h"  // before Beast
// clang-format on

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
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
constexpr std::chrono::milliseconds kLookUpLook{5};  // at a look-up on another thread

using Addresses = std::vector<std::string>;

Result<Addresses> look_up_by_system(const std::string& host) {
  asio::io_context context;
  tcp::resolver resolver(context);
  boost::system::error_code unknown;
  const auto found = resolver.resolve(host, "", unknown);
  if (unknown) return fail(Errc::kUnavailable, fmt::format("{}: {}", host, unknown.message()));
  Addresses addresses;
  for (const auto& one : found) addresses.push_back(one.endpoint().address().to_string());
  return addresses;
}

std::string text_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown";
  }
}

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
    const auto is_to_end = [&] { return !request.last && options_.ended && options_.ended(); };
    cancelled_ = is_to_end();
    if (cancelled_) return stopped();
    bool done = false;
    Result<HttpAnswer> answer = fail(Errc::kInternal, "the request never finished");
    asio::co_spawn(
        context_, carry(request), [&](const std::exception_ptr& thrown, Result<HttpAnswer> result) {
          if (thrown) {
            answer = fail(Errc::kInternal, fmt::format("the request failed: {}", text_of(thrown)));
          } else {
            answer = std::move(result);
          }
          done = true;
        });
    context_.restart();
    while (!done) {
      context_.run_for(kLook);
      if (done || (!cancelled_ && !is_to_end())) continue;
      cancelled_ = true;
      // At each look: the request may be between two operations, or go on with another address.
      if (stream() != nullptr) stream()->close();
    }
    if (cancelled_) return stopped();
    return answer;
  }

  static std::unexpected<Error> stopped() { return fail(Errc::kCancelled, "stopped"); }

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
    const auto until = std::chrono::steady_clock::now() +
                       std::min(patience_, std::chrono::milliseconds(options_.connect_ms));
    Result<std::vector<tcp::endpoint>> found = co_await look_up(until);
    if (!found) co_return std::unexpected(std::move(found).error());
    if (tls_ != nullptr) {
      secure_ = std::make_unique<TlsStream>(context_.get_executor(), *tls_);
    } else {
      plain_ = std::make_unique<beast::tcp_stream>(context_.get_executor());
    }
    stream()->expires_at(until);
    auto [refused, reached] = co_await stream()->async_connect(*found, kAsTuple);
    if (cancelled_) co_return stopped();
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

  // On a thread of its own: the system's look-up cannot be cancelled and may take minutes.
  Task<std::vector<tcp::endpoint>> look_up(std::chrono::steady_clock::time_point until) {
    const S3Endpoint& server = options_.server;
    const auto work = options_.look_up ? options_.look_up : look_up_by_system;
    std::packaged_task<Result<Addresses>()> task([work, host = server.host] { return work(host); });
    std::future<Result<Addresses>> future = task.get_future();
    std::thread(std::move(task)).detach();
    asio::steady_timer timer(context_);
    while (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      if (cancelled_) co_return stopped();
      if (std::chrono::steady_clock::now() > until) {
        co_return fail(Errc::kTimeout,
                       fmt::format("the look-up of the name {} takes too long", server.host));
      }
      timer.expires_after(kLookUpLook);
      co_await timer.async_wait(kAsTuple);
    }
    Result<Addresses> addresses = future.get();
    if (!addresses) co_return std::unexpected(std::move(addresses).error());
    std::uint16_t port = 0;
    std::vector<tcp::endpoint> found;
    if (!read_number(server.port, port)) co_return fail(Errc::kInvalidArgument, "no port");
    for (const std::string& address : *addresses) {
      found.emplace_back(asio::ip::make_address(address), port);
    }
    co_return found;
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
      if (cancelled_) co_return stopped();
      if (unread == http::error::body_limit && parser.get().result() == http::status::ok &&
          request.headers.contains("range")) {
        co_return fail(Errc::kUnsupported,
                       fmt::format("{} answers no ranges", options_.server.authority()));
      }
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
      if (cancelled_) co_return make_error_code(asio::error::operation_aborted);
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
  bool cancelled_ = false;  // the current request
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
