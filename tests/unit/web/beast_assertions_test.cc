// clang-format off
#include "common/boost_assertions.h"  // before Beast
// clang-format on

#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <gtest/gtest.h>

namespace halite {
namespace {

namespace http = boost::beast::http;

TEST(BeastAssertions, AreThrown) {
  const auto failed = failed_assertion([] { BOOST_ASSERT(2 < 1); });
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->find("2 < 1 at "), std::string::npos) << *failed;
  const auto told = failed_assertion([] { BOOST_ASSERT_MSG(2 < 1, "why"); });
  ASSERT_TRUE(told);
  EXPECT_NE(told->find("2 < 1 (why) at "), std::string::npos) << *told;
  EXPECT_FALSE(failed_assertion([] { BOOST_ASSERT(1 < 2); }));
}

// Bytes that have ended a server: the last chunk in three pieces. HttpParser keeps them from Beast
// (HttpParser.ChunksInThreePiecesCutAnywhere); what it does not know of ends as this does.
TEST(BeastAssertions, BytesThatBreakOneEndWhatTheyAreAbout) {
  http::request_parser<http::string_body> parser;
  parser.eager(false);
  std::string waiting;
  const auto feed = [&](std::string_view bytes) {
    waiting += bytes;
    return failed_assertion([&] {
      boost::beast::error_code error;
      while (!waiting.empty() && !parser.is_done() && !error) {
        waiting.erase(0,
                      parser.put(boost::asio::const_buffer(waiting.data(), waiting.size()), error));
      }
    });
  };
  EXPECT_FALSE(feed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
  EXPECT_FALSE(feed("0\r\n"));
  const auto failed = feed("\r");
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->find("n >= 5 at "), std::string::npos) << *failed;
}

}  // namespace
}  // namespace halite
