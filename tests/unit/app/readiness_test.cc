#include "app/server/readiness.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::app {
namespace {

// A service manager's socket; a name that begins with '@' is abstract.
class Listener {
 public:
  explicit Listener(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.starts_with('@')) {
      address.sun_path[0] = '\0';
    } else {
      ::unlink(name.c_str());
    }
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length), 0);
  }
  ~Listener() { ::close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] std::string heard() const {
    std::array<char, 64> text{};
    const ssize_t size = ::recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(size));
  }

 private:
  int socket_;
};

class ReadinessTest : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("NOTIFY_SOCKET"); }
};

TEST_F(ReadinessTest, WithoutASocketItIsSilent) {
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(notify_service_manager("READY=1"));
}

TEST_F(ReadinessTest, PathsAndAbstractNames) {
  const std::string path = fmt::format("/tmp/halite-notify-{}", ::getpid());
  for (const std::string& name : {path, "@" + path}) {
    const Listener listener(name);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    const Result<void> told = notify_service_manager("READY=1");
    EXPECT_TRUE(told) << told.error().message;
    EXPECT_EQ(listener.heard(), "READY=1");
  }
  ::unlink(path.c_str());
}

TEST_F(ReadinessTest, NobodyThereIsAnError) {
  ::setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
  const Result<void> told = notify_service_manager("READY=1");
  ASSERT_FALSE(told);
  EXPECT_THAT(
      told.error().message,
      testing::HasSubstr("cannot write to NOTIFY_SOCKET /nonexistent/notify: No such file"));
  ::setenv("NOTIFY_SOCKET", std::string(200, 'x').c_str(), 1);
  EXPECT_FALSE(notify_service_manager("READY=1"));
}

}  // namespace
}  // namespace halite::app
