#include "web/waiting_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/client.h"

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
    auto opened = WaitingRoom::open(options, "no \"HBase\" there", limits());
    EXPECT_TRUE(opened) << opened.error().message;
    room_ = *std::move(opened);
  }
  static WaitingRoomLimits limits() { return {.request_bytes_max = 8192}; }

  std::string ask(std::string_view bytes) const {
    test::Client client(room_->port());
    client.send(bytes);
    return client.receive_all(kPatienceMs);
  }

  std::unique_ptr<WaitingRoom> room_;
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
  EXPECT_FALSE(WaitingRoom::open(options, "second"));
  const test::Client idle(options.port);
  room_.reset();
  EXPECT_TRUE(WaitingRoom::open(options, "second"));
}

}  // namespace
}  // namespace halite::web
