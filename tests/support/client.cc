#include "tests/support/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "common/check.h"

namespace halite::test {

Client::Client(std::uint16_t port, int receive_buffer_bytes)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  HALITE_CHECK(fd_ >= 0, "no socket for a test's client");
  if (receive_buffer_bytes != 0) {
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  }
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connected = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  HALITE_CHECK(connected == 0, "a test's client cannot connect");
}

Client::~Client() {
  if (fd_ >= 0) ::close(fd_);
}

Client::Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Client::half_close() { ::shutdown(fd_, SHUT_WR); }

void Client::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(std::exchange(fd_, -1));
}

std::optional<std::string> Client::receive(int timeout_ms) {
  pollfd wanted{.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&wanted, 1, timeout_ms) <= 0) return std::nullopt;
  std::string bytes(64 << 10, '\0');
  const auto count = ::recv(fd_, bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

std::string Client::receive_all(int timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  std::string all;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return all;
    const std::optional<std::string> more = receive(static_cast<int>(left.count()));
    if (!more || more->empty()) return all;
    all += *more;
  }
}

}  // namespace halite::test
