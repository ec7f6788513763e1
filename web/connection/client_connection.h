// A client's socket, with or without TLS, for both protocols: reads, writes, deadlines, shutdown.
//
//   Threads   call post_*() and expire_if_late() from any thread; everything else on the socket's
//             strand.
//   Deadline  one at a time, for the current wait. Setting one costs one store; the server checks
//             all of them a few times each second.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "common/threads/task.h"

namespace halite::web {

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  explicit ClientConnection(boost::asio::ip::tcp::socket socket);

  // Milliseconds of the steady clock. 0 ms from now means "no deadline".
  [[nodiscard]] static std::int64_t now_ms();
  [[nodiscard]] static std::int64_t deadline_in(std::int64_t ms) {
    return ms == 0 ? 0 : now_ms() + ms;
  }

  // Reads available bytes without consuming them; 0 bytes: the client ended its stream.
  [[nodiscard]] Result<std::size_t> peek(char* to, std::size_t size);

  // Switches to TLS. Errors of read_some(), and kInvalidArgument: the client's TLS is invalid or
  // has no version or cipher in common.
  Task<void> start_tls(std::shared_ptr<boost::asio::ssl::context> context, std::int64_t deadline);

  // Reads once, up to `size` bytes. 0: the client ended its stream. kTimeout: the deadline passed.
  // kCancelled: the server drains, and `at_rest` says that the connection is idle. kUnavailable:
  // the connection broke.
  Task<std::size_t> read_some(char* to, std::size_t size, std::int64_t deadline, bool at_rest);

  // Waits for data or the end of the stream, without a buffer. Errors of read_some().
  Task<void> wait_readable(std::int64_t deadline, bool at_rest);

  // Writes all of it. timeout_ms applies to each step of at most 256 KiB. The text outlives the
  // task.
  Task<void> write(std::string_view text, std::int64_t timeout_ms);

  // Writes without waiting; calls handler(error, count).
  template <class Handler>
  void async_write(boost::asio::const_buffer text, Handler handler) {
    if (tls_) {
      boost::asio::async_write(tls_->stream, text, std::move(handler));
    } else {
      boost::asio::async_write(socket_, text, std::move(handler));
    }
  }

  // Ends our half, then reads and discards input until the client ends its half or the time is up.
  // Without it, closing with unread bytes could lose the answer.
  boost::asio::awaitable<void> linger(std::int64_t timeout_ms);

  void close();

  // The server is stopping: accept no new work. Idle waits end at once.
  void post_drain();
  // Time is up: asks running work to stop and closes the socket.
  void post_abort();
  // Ends the current wait with kTimeout if its deadline has passed.
  void expire_if_late(std::int64_t now_ms);

  [[nodiscard]] bool encrypted() const { return tls_.has_value(); }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool broken() const { return aborted_; }
  [[nodiscard]] boost::asio::ip::tcp::socket& socket() { return socket_; }

  // The stop source of the request being handled; new for each request.
  std::stop_source& renew_work();

  void set_deadline(std::int64_t deadline) {
    deadline_ms_.store(deadline, std::memory_order_relaxed);
  }

 private:
  void cancel();  // ends the current wait; writes of others continue
  [[nodiscard]] Error why(const boost::system::error_code& error) const;
  boost::asio::awaitable<void> end_tls(std::int64_t deadline);
  boost::asio::awaitable<void> drop_what_comes(std::int64_t deadline);

  struct TlsLayer {
    TlsLayer(boost::asio::ip::tcp::socket& socket, std::shared_ptr<boost::asio::ssl::context> made)
        : context(std::move(made)), stream(socket, *context) {}
    std::shared_ptr<boost::asio::ssl::context> context;
    boost::asio::ssl::stream<boost::asio::ip::tcp::socket&> stream;
  };

  boost::asio::ip::tcp::socket socket_;
  std::optional<TlsLayer> tls_;
  std::optional<char> first_;                  // with TLS: read to detect input
  std::atomic<std::int64_t> deadline_ms_ = 0;  // 0 = none
  bool late_ = false;                          // the deadline of the current wait has passed
  bool at_rest_ = false;
  bool draining_ = false;
  bool aborted_ = false;
  std::stop_source work_;
  boost::asio::cancellation_signal end_wait_;  // of the current wait
};

}  // namespace halite::web
