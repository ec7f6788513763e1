#include "web/connection/client_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>

#include "web/connection/awaitable.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kWriteStepBytes = 256 << 10;

}  // namespace

ClientConnection::ClientConnection(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

std::int64_t ClientConnection::now_ms() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

Error ClientConnection::why(const boost::system::error_code& error) const {
  if (aborted_) return {Errc::kUnavailable, "the server closed the connection", {}};
  if (late_) return {Errc::kTimeout, "the client took too long", {}};
  if (draining_ && at_rest_) return {Errc::kCancelled, "the server is stopping", {}};
  return {Errc::kUnavailable, error.message(), {}};
}

Task<std::size_t> ClientConnection::read_some(char* to, std::size_t size, std::int64_t deadline,
                                              bool at_rest) {
  at_rest_ = at_rest;
  late_ = false;
  if (aborted_ || (draining_ && at_rest_)) co_return std::unexpected(why({}));
  if (first_) {
    *to = *std::exchange(first_, std::nullopt);
    co_return 1;
  }
  set_deadline(deadline);
  auto token = asio::bind_cancellation_slot(end_wait_.slot(), kAwaitable);
  auto reading = tls_ ? tls_->stream.async_read_some(asio::buffer(to, size), token)
                      : socket_.async_read_some(asio::buffer(to, size), token);
  const auto [error, count] = co_await std::move(reading);
  set_deadline(0);
  // Many TLS clients close without close_notify.
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) co_return 0;
  if (error) co_return std::unexpected(why(error));
  co_return count;
}

Task<void> ClientConnection::wait_readable(std::int64_t deadline, bool at_rest) {
  at_rest_ = at_rest;
  late_ = false;
  if (aborted_ || (draining_ && at_rest_)) co_return std::unexpected(why({}));
  if (tls_ && !first_) {
    // TLS may have buffered what was read from the socket.
    char byte = 0;
    CO_TRY(const std::size_t count, co_await read_some(&byte, 1, deadline, at_rest));
    if (count != 0) first_ = byte;
  }
  if (tls_) co_return Result<void>();
  set_deadline(deadline);
  auto token = asio::bind_cancellation_slot(end_wait_.slot(), kAwaitable);
  auto waiting = socket_.async_wait(asio::ip::tcp::socket::wait_read, token);
  const auto [error] = co_await std::move(waiting);
  set_deadline(0);
  if (error) co_return std::unexpected(why(error));
  co_return Result<void>();
}

Task<void> ClientConnection::write(std::string_view text, std::int64_t timeout_ms) {
  at_rest_ = false;
  late_ = false;
  while (!text.empty()) {
    if (aborted_) co_return std::unexpected(why({}));
    set_deadline(deadline_in(timeout_ms));
    const std::size_t step = std::min(text.size(), kWriteStepBytes);
    auto token = asio::bind_cancellation_slot(end_wait_.slot(), kAwaitable);
    const asio::const_buffer piece = asio::buffer(text.data(), step);
    auto writing = tls_ ? asio::async_write(tls_->stream, piece, token)
                        : asio::async_write(socket_, piece, token);
    const auto [error, count] = co_await std::move(writing);
    set_deadline(0);
    if (error) co_return std::unexpected(why(error));
    text.remove_prefix(step);
  }
  co_return Result<void>();
}

Result<std::size_t> ClientConnection::peek(char* to, std::size_t size) {
  const auto count = ::recv(socket_.native_handle(), to, size, MSG_PEEK | MSG_DONTWAIT);
  if (count >= 0) return static_cast<std::size_t>(count);
  return std::unexpected(why({errno, boost::system::system_category()}));
}

Task<void> ClientConnection::start_tls(std::shared_ptr<asio::ssl::context> context,
                                       std::int64_t deadline) {
  at_rest_ = false;
  late_ = false;
  if (aborted_) co_return std::unexpected(why({}));
  tls_.emplace(socket_, std::move(context));
  set_deadline(deadline);
  auto token = asio::bind_cancellation_slot(end_wait_.slot(), kAwaitable);
  auto shaking = tls_->stream.async_handshake(asio::ssl::stream_base::server, token);
  const auto [error] = co_await std::move(shaking);
  set_deadline(0);
  if (!error) co_return Result<void>();
  if (late_ || aborted_) co_return std::unexpected(why(error));
  co_return fail(Errc::kInvalidArgument, error.message());
}

// Sends close_notify, so that the client can distinguish the end from a truncation.
asio::awaitable<void> ClientConnection::end_tls(std::int64_t deadline) {
  set_deadline(deadline);
  auto token = asio::bind_cancellation_slot(end_wait_.slot(), kAwaitable);
  auto ending = tls_->stream.async_shutdown(token);
  (void)co_await std::move(ending);  // the client may have disconnected
  set_deadline(0);
}

// If the socket were closed with unread bytes, the answer would be lost.
asio::awaitable<void> ClientConnection::drop_what_comes(std::int64_t deadline) {
  std::array<char, 16 << 10> dropped;
  while (!aborted_) {
    set_deadline(deadline);
    auto token = asio::bind_cancellation_slot(end_wait_.slot(), kAwaitable);
    auto reading = socket_.async_read_some(asio::buffer(dropped), token);
    const auto [error, count] = co_await std::move(reading);
    set_deadline(0);
    if (error) co_return;
  }
}

asio::awaitable<void> ClientConnection::linger(std::int64_t timeout_ms) {
  const std::int64_t deadline = deadline_in(std::max<std::int64_t>(timeout_ms, 1));
  at_rest_ = false;
  late_ = false;
  if (tls_) co_await end_tls(deadline);
  boost::system::error_code ignored;  // the client may have disconnected
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  if (!late_) co_await drop_what_comes(deadline);
}

void ClientConnection::close() {
  boost::system::error_code ignored;  // no recovery is possible
  socket_.close(ignored);
}

void ClientConnection::cancel() { end_wait_.emit(asio::cancellation_type::terminal); }

void ClientConnection::post_drain() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->draining_ = true;
    if (self->at_rest_) self->cancel();
  });
}

void ClientConnection::post_abort() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->aborted_ = true;
    self->work_.request_stop();
    self->close();
  });
}

void ClientConnection::expire_if_late(std::int64_t now) {
  const std::int64_t deadline = deadline_ms_.load(std::memory_order_relaxed);
  if (deadline == 0 || deadline > now) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    const std::int64_t current = self->deadline_ms_.load(std::memory_order_relaxed);
    if (current == 0 || current > now_ms()) return;
    self->late_ = true;
    self->cancel();
  });
}

std::stop_source& ClientConnection::renew_work() {
  work_ = std::stop_source();
  if (aborted_) work_.request_stop();
  return work_;
}

}  // namespace halite::web
