#include "web/connection/startup_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "common/log.h"
#include "tests/support/client.h"
#include "tests/support/soon.h"

namespace halite::web {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kPatienceMs = 30'000;

class WaitingRoomTest : public testing::Test {
 protected:
  WaitingRoomTest() {
    WebOptions options;
    options.address = "127.0.0.1";
    options.port = 0;
    auto opened = StartupListener::open(options, "no \"HBase\" there", limits());
    EXPECT_TRUE(opened) << opened.error().message;
    room_ = *std::move(opened);
  }
  static StartupListenerLimits limits() { return {.request_bytes_max = 8192}; }

  std::string ask(std::string_view bytes) const {
    test::Client client(room_->port());
    client.send(bytes);
    return client.receive_all(kPatienceMs);
  }

  std::unique_ptr<StartupListener> room_;
};

TEST_F(WaitingRoomTest, HttpIsToldWhyAndToComeAgain) {
  EXPECT_THAT(ask("GET /-/ready HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 503 Service Unavailable\r\n"),
                    HasSubstr("\r\nRetry-After: 5\r\n"), EndsWith("\r\n\r\nno \"HBase\" there\n")));
  EXPECT_THAT(ask("POST /api/put?details HTTP/1.1\r\nContent-Length: 4\r\n\r\n[{}]"),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("application/json"),
                    EndsWith(R"({"error":{"code":503,"message":"no \"HBase\" there"}})")));
}

TEST_F(WaitingRoomTest, TheProcessIsHealthy) {
  EXPECT_THAT(ask("GET /-/healthy HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\nok\n")));
}

// As the server reads it: see line_ends.http and lenient.http.
TEST_F(WaitingRoomTest, TheProcessIsHealthyToOldAndLooseClients) {
  for (const char* request : {
           "GET /-/healthy HTTP/1.0\n\n",
           "GET /-/healthy HTTP/1.0\nA: b\n\n",
           "GET /-/healthy HTTP/1.0\r\n\n",
           "GET  /-/healthy \t HTTP/1.0 \r\n\r\n",
           "GET //-/healthy?x=y HTTP/1.1\r\n\r\n",
           "GET http://here:4242/-/healthy HTTP/1.1\r\n\r\n",
           "\r\n\r\nGET /-/healthy HTTP/1.1\r\n\r\n",
       }) {
    EXPECT_THAT(ask(request), StartsWith("HTTP/1.1 200 OK\r\n")) << request;
  }
}

TEST_F(WaitingRoomTest, ErrorsOfTheApiAreJson) {
  for (const char* target :
       {"//api/put", "/API/put", "/api/v9/put", "/api?x=%", "/grafana/api/x"}) {
    EXPECT_THAT(ask("POST " + std::string(target) + " HTTP/1.1\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("application/json")))
        << target;
  }
  for (const char* target : {"/apis", "*", "/%"}) {
    EXPECT_THAT(ask("POST " + std::string(target) + " HTTP/1.1\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("text/plain")))
        << target;
  }
  EXPECT_THAT(ask("GET\r\nA: b\n\r\n"), StartsWith("HTTP/1.1 503 "));  // no target, no end
}

// IAC DO NAOCRD, whose last byte is that of a line's end; the line comes later.
TEST_F(WaitingRoomTest, TelnetsOwnBytesAreNoLine) {
  test::Client client(room_->port());
  client.send("\xFF\xFD\n");
  EXPECT_EQ(client.receive(100), std::nullopt);
  client.send("put a 1 1 a=b\n");
  EXPECT_EQ(client.receive_all(kPatienceMs), "put: not ready: no \"HBase\" there\n");
}

TEST_F(WaitingRoomTest, TelnetGetsALineAndTheEnd) {
  EXPECT_EQ(ask("put a 1 1 a=b\nput a 2 1 a=b\n"), "put: not ready: no \"HBase\" there\n");
}

TEST_F(WaitingRoomTest, TheReasonMayChange) {
  room_->set_reason("still not");
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), EndsWith("\r\n\r\nstill not\n"));
}

TEST_F(WaitingRoomTest, ALongBodyDoesNotHideTheAnswer) {
  const std::string body(6000, 'x');
  EXPECT_THAT(ask("POST /api/put HTTP/1.1\r\nContent-Length: 6000\r\n\r\n" + body),
              StartsWith("HTTP/1.1 503 "));
}

TEST_F(WaitingRoomTest, ARequestWithoutEndIsGivenUp) {
  EXPECT_EQ(ask("GET /" + std::string(10'000, 'a')), "");
}

TEST_F(WaitingRoomTest, ItsPortIsFreeOnceItIsGone) {
  WebOptions options;
  options.address = "127.0.0.1";
  options.port = room_->port();
  EXPECT_FALSE(StartupListener::open(options, "second"));
  const test::Client idle(options.port);
  room_.reset();
  EXPECT_TRUE(StartupListener::open(options, "second"));
}

// The port is never closed: who knocks in between finds its listener a moment later.
TEST_F(WaitingRoomTest, ItHandsItsPortOver) {
  const std::uint16_t port = room_->port();
  const test::Client inside(port);
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor next(context);
  ASSERT_TRUE(room_->hand_over(next));
  test::Client knocks(port);
  room_.reset();
  EXPECT_EQ(next.local_endpoint().port(), port);
  boost::asio::ip::tcp::socket accepted = next.accept();
  EXPECT_TRUE(knocks.send("hello"));
  std::array<char, 5> came;
  EXPECT_EQ(boost::asio::read(accepted, boost::asio::buffer(came)), came.size());
}

// All descriptors of the process in use, but for those of whoever asked for one before.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 256;
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) taken_.push_back(fd);
  }
  ~NoDescriptors() {
    for (const int fd : taken_) ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

// Counts lines; any thread.
class LineCount final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  [[nodiscard]] int lines() const { return lines_; }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    if (text.starts_with("cannot accept a connection: Too many open files")) ++lines_;
  }
  void flush_() override {}
  std::atomic<int> lines_ = 0;
};

double cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

TEST_F(WaitingRoomTest, WithoutDescriptorsItPausesAndGoesOnWhenThereAreSome) {
  const auto before = spdlog::default_logger();
  const auto count = std::make_shared<LineCount>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", count));
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(fd, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(room_->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // UBSan needs a descriptor to check the type of an object that it sees for the first time.
  log::warn("{} {}", "no descriptors", 7);
  ASSERT_EQ(count->lines(), 0);
  {
    const NoDescriptors none;
    ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_TRUE(test::soon([&] { return count->lines() >= 1; }));
    const double cpu = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(test::soon([&] { return count->lines() >= 6; }));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(cpu_seconds() - cpu, took.count() / 2);  // a loop that spins takes all of it
    EXPECT_GE(took.count(), 0.4);
  }
  EXPECT_EQ(ask("put a 1 1 a=b\n"), "put: not ready: no \"HBase\" there\n");
  ::close(fd);
  spdlog::set_default_logger(before);
}

}  // namespace
}  // namespace halite::web
