// Connections that never come about, and requests that cannot be sent.
#include "storage/tools/backup/s3/http_connection.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_s3.h"

namespace halite::storage::backup {
namespace {

using testing::HasSubstr;

class HttpConnectionTest : public testing::Test {
 protected:
  ~HttpConnectionTest() override { answered_->set_value(); }

  // Of a connection whose look-up of names lasts until the test ends.
  HttpConnectionOptions without_names() {
    const auto wait = [answer = answered_->get_future().share(),
                       keep = answered_](const std::string&) -> Result<std::vector<std::string>> {
      answer.wait();
      return std::vector<std::string>{"127.0.0.1"};
    };
    return {.server = {.secure = false, .host = "slow.test", .port = "1"},
            .ca_file = {},
            .look_up = wait,
            .ended = {}};
  }

  const HttpRequest request_{.method = "GET", .target = "/", .headers = {}, .body = {}};
  const std::shared_ptr<std::promise<void>> answered_ = std::make_shared<std::promise<void>>();
};

TEST_F(HttpConnectionTest, ALookUpOfTheNameHasATimeout) {
  HttpConnectionOptions options = without_names();
  options.connect_ms = 100;
  const auto connection = HttpConnection::make(options).value();
  const auto answer = connection->exchange(request_);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kTimeout);
  EXPECT_THAT(answer.error().message, HasSubstr("the name slow.test"));
}

TEST_F(HttpConnectionTest, AnEndIsSeenInALookUp) {
  HttpConnectionOptions options = without_names();
  options.connect_ms = 600'000;
  options.silence_ms = 600'000;
  options.ended = [looks = std::make_shared<std::atomic<int>>(0)] { return ++*looks > 2; };
  const auto connection = HttpConnection::make(options).value();
  EXPECT_EQ(connection->exchange(request_).error().code, Errc::kCancelled);
}

TEST_F(HttpConnectionTest, AnExceptionIsAnError) {
  test::FakeS3 s3;
  const auto connection =
      HttpConnection::make({.server = s3.options("p").endpoint, .ca_file = {}, .ended = {}})
          .value();
  HttpRequest large = request_;
  large.headers["x"] = std::string(70'000, 'x');  // more than Beast takes
  EXPECT_EQ(connection->exchange(large).error().code, Errc::kInternal);
}

}  // namespace
}  // namespace halite::storage::backup
