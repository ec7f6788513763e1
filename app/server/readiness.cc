#include "app/server/readiness.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace halite::app {

Result<void> notify_service_manager(std::string_view state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe)
  if (path == nullptr || *path == '\0') return {};
  const std::string_view name = path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) {
    return fail(Errc::kInvalidArgument, fmt::format("NOTIFY_SOCKET is too long: {}", name));
  }
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name.starts_with('@')) address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return fail(Errc::kUnavailable, fmt::format("socket: {}", std::strerror(errno)));
  const ssize_t sent = ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  const int error = errno;
  ::close(socket);
  if (sent < 0) {
    return fail(Errc::kUnavailable,
                fmt::format("cannot write to NOTIFY_SOCKET {}: {}", name, std::strerror(error)));
  }
  return {};
}

}  // namespace halite::app
