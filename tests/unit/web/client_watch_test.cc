#include "web/client_watch.h"

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
  static constexpr std::int64_t kGraceMs = 400;

  ClientWatchTest()
      : acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        client_(std::in_place, acceptor_.local_endpoint().port()),
        socket_(acceptor_.accept(asio::make_strand(io_))) {
    watch_.emplace(socket_, work_, kGraceMs);
  }

  void run_ms(int ms) {
    io_.restart();
    io_.run_for(std::chrono::milliseconds(ms));
  }
  [[nodiscard]] bool stopped() const { return work_.stop_requested(); }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::optional<test::Client> client_;
  tcp::socket socket_;
  std::stop_source work_;
  std::optional<ClientWatch> watch_;
};

TEST_F(ClientWatchTest, NothingHappens) {
  run_ms(100);
  EXPECT_FALSE(stopped());
}

TEST_F(ClientWatchTest, AResetStopsTheWorkAtOnce) {
  client_->reset();
  run_ms(200);
  EXPECT_TRUE(stopped());
}

TEST_F(ClientWatchTest, AnEndOfStreamStopsItAfterTheGrace) {
  client_->half_close();
  run_ms(20);
  EXPECT_FALSE(stopped());
  run_ms(2'000);
  EXPECT_TRUE(stopped());
}

TEST_F(ClientWatchTest, WorkThatEndsWithinTheGraceIsNotStopped) {
  client_->half_close();
  run_ms(20);
  watch_.reset();
  run_ms(600);
  EXPECT_FALSE(stopped());
}

TEST_F(ClientWatchTest, MoreBytesAreTheNextRequest) {
  ASSERT_TRUE(client_->send("GET"));
  run_ms(20);
  client_.reset();
  run_ms(600);
  EXPECT_FALSE(stopped());
}

TEST_F(ClientWatchTest, ItEndsWithItsObject) {
  watch_.reset();
  client_->reset();
  run_ms(30);
  EXPECT_FALSE(stopped());
}

}  // namespace
}  // namespace halite::web
