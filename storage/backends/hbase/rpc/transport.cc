#include "storage/backends/hbase/rpc/transport.h"

#include <string>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

namespace halite::storage::hbase {

namespace {

using boost::asio::ip::tcp;

constexpr auto kAsTuple = boost::asio::as_tuple(boost::asio::use_awaitable);

std::unexpected<Error> unavailable(const boost::system::error_code& problem) {
  if (problem == boost::asio::error::eof) return fail(Errc::kUnavailable, "closed by the server");
  return fail(Errc::kUnavailable, problem.message());
}

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(const boost::asio::any_io_executor& strand)
      : socket_(strand), resolver_(strand) {}

  Task<void> connect(Endpoint to) override {
    const std::string port = std::to_string(to.port);
    auto [unresolved, found] = co_await resolver_.async_resolve(to.host, port, kAsTuple);
    if (unresolved) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("host \"{}\": {}", to.host, unresolved.message()));
    }
    if (closed_) co_return fail(Errc::kUnavailable, "closed");
    step_ = "a TCP connection";
    auto [refused, reached] = co_await boost::asio::async_connect(socket_, found, kAsTuple);
    if (refused) co_return unavailable(refused);
    if (closed_) co_return fail(Errc::kUnavailable, "closed");
    boost::system::error_code ignored;  // both options are optional improvements
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.set_option(tcp::socket::keep_alive(true), ignored);
    co_return Result<void>();
  }

  Task<std::size_t> read_some(boost::asio::mutable_buffer into) override {
    auto [problem, bytes] = co_await socket_.async_read_some(into, kAsTuple);
    if (problem) co_return unavailable(problem);
    co_return bytes;
  }

  Task<void> write(std::vector<boost::asio::const_buffer> buffers) override {
    auto [problem, bytes] = co_await boost::asio::async_write(socket_, buffers, kAsTuple);
    if (problem) co_return unavailable(problem);
    co_return Result<void>();
  }

  void close() override {
    closed_ = true;
    resolver_.cancel();
    boost::system::error_code ignored;  // the socket is closed in any case
    socket_.close(ignored);
  }

  [[nodiscard]] std::string step() const override { return step_; }

 private:
  tcp::socket socket_;
  tcp::resolver resolver_;
  const char* step_ = "the address of the host";
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<Transport> tcp_transport(const boost::asio::any_io_executor& strand) {
  return std::make_unique<TcpTransport>(strand);
}

std::string to_text(const Endpoint& endpoint) {
  const bool v6 = endpoint.host.contains(':');
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", endpoint.host, v6 ? "]" : "", endpoint.port);
}

}  // namespace halite::storage::hbase
