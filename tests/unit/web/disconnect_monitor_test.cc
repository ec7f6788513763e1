#include "web/http/disconnect_monitor.h"

#include <chrono>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <gtest/gtest.h>

#include "tests/support/client.h"

namespace halite::web {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

class ClientWatchTest : public testing::Test {
 protected:
  static constexpr std::int64_t kNoGraceMs = 1;
  static constexpr std::int64_t kForeverMs = 3'600'000;  // a grace that no test waits for

  ClientWatchTest()
      : acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        client_(std::in_place, acceptor_.local_endpoint().port()),
        socket_(acceptor_.accept(asio::make_strand(io_))) {}

  void watch(std::int64_t grace_ms) { watch_.emplace(socket_, work_, grace_ms); }

  void run_ms(int ms) {
    io_.restart();
    io_.run_for(std::chrono::milliseconds(ms));
  }
  [[nodiscard]] bool stopped() const { return work_.stop_requested(); }
  [[nodiscard]] bool stops() {  // in the end
    for (int i = 0; i < 1'000 && !stopped(); ++i) run_ms(10);
    return stopped();
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::optional<test::Client> client_;
  tcp::socket socket_;
  std::stop_source work_;
  std::optional<DisconnectMonitor> watch_;
};

TEST_F(ClientWatchTest, NothingHappens) {
  watch(kNoGraceMs);
  run_ms(50);
  EXPECT_FALSE(stopped());
}

TEST_F(ClientWatchTest, AResetStopsTheWorkAtOnce) {
  watch(kForeverMs);
  client_->reset();
  EXPECT_TRUE(stops());
}

TEST_F(ClientWatchTest, AnEndOfStreamHasAGrace) {
  watch(kForeverMs);
  client_->half_close();
  run_ms(50);
  EXPECT_FALSE(stopped());
}

TEST_F(ClientWatchTest, AnEndOfStreamStopsTheWorkAfterTheGrace) {
  watch(kNoGraceMs);
  client_->half_close();
  EXPECT_TRUE(stops());
}

TEST_F(ClientWatchTest, WorkThatEndsWithinTheGraceIsNotStopped) {
  watch(kForeverMs);
  client_->half_close();
  run_ms(20);
  watch_.reset();
  run_ms(50);
  EXPECT_FALSE(stopped());
}

TEST_F(ClientWatchTest, MoreBytesAreTheNextRequest) {
  watch(kNoGraceMs);
  ASSERT_TRUE(client_->send("GET"));
  run_ms(50);
  EXPECT_FALSE(stopped());
}

TEST_F(ClientWatchTest, AnEndOfStreamBehindMoreBytesStopsTheWorkAfterTheGrace) {
  watch(kNoGraceMs);
  ASSERT_TRUE(client_->send("GET"));
  run_ms(20);
  client_.reset();
  EXPECT_TRUE(stops());
}

TEST_F(ClientWatchTest, AnEndOfStreamBehindMoreBytesHasAGrace) {
  watch(kForeverMs);
  ASSERT_TRUE(client_->send("GET"));
  client_->half_close();
  run_ms(400);
  EXPECT_FALSE(stopped());
}

TEST_F(ClientWatchTest, AResetBehindMoreBytesStopsTheWorkAtOnce) {
  watch(kForeverMs);
  ASSERT_TRUE(client_->send("GET"));
  run_ms(20);
  client_->reset();
  EXPECT_TRUE(stops());
}

TEST_F(ClientWatchTest, ItEndsWithItsObject) {
  watch(kNoGraceMs);
  ASSERT_TRUE(client_->send("GET"));
  run_ms(20);
  watch_.reset();
  client_->reset();
  run_ms(50);
  EXPECT_FALSE(stopped());
}

}  // namespace
}  // namespace halite::web
