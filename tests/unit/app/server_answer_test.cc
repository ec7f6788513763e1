#include "app/client/server_answer.h"

#include <string>
#include <string_view>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace halite::app {
namespace {

// The text in a JSON array.
std::string read(std::string_view json) {
  boost::system::error_code error;
  const boost::json::value answer = parse_answer(json, error);
  EXPECT_FALSE(error) << json;
  if (error) return "";
  return std::string(answer.as_array().at(0).as_string());
}

std::string told(unsigned status, std::string body, std::string_view url = "http://tsd/base") {
  const auto peer = make_peer(url, {});
  EXPECT_TRUE(peer);
  return answer_text(peer.value(), "/api/put", {.status = status, .body = std::move(body)});
}

TEST(ServerAnswer, HasHalfPairs) {
  EXPECT_EQ(read(R"(["a \uD83D"])"), "a \uFFFD");
  EXPECT_EQ(read(R"(["\uDE00\uD83D"])"), "\uFFFD\uFFFD");
  EXPECT_EQ(read(R"(["\ud83dx\uD83D\u0041"])"),
            "\uFFFDx\uFFFD"
            "A");
  EXPECT_EQ(read(R"(["\uD83D\uD83D\uDE00"])"), "\uFFFD😀");
  EXPECT_EQ(read(R"(["\uD83D\uDE00"])"), "😀");
  EXPECT_EQ(read(R"(["\\uD83D\"\\"])"), R"(\uD83D"\)");
  EXPECT_EQ(read("[\"\xED\xA0\xBD \xFF\"]"), "\uFFFD \uFFFD");
}

TEST(ServerAnswer, IsWrongJson) {
  for (const char* const text : {"", "<html>", "[", R"(["\)", R"(["\u12)", R"(["\uD83D)"}) {
    boost::system::error_code error;
    EXPECT_TRUE(parse_answer(text, error).is_null());
    EXPECT_TRUE(error) << text;
  }
}

TEST(ServerAnswer, IsToldWithItsUrl) {
  EXPECT_EQ(told(403, R"({"error":{"code":403,"message":"Not allowed"}})"),
            "the server answered 403 to http://tsd:4242/base/api/put: Not allowed");
  EXPECT_EQ(
      told(403, R"({"error":{"message":"No","details":"User a lacks a role"}})", "http://[::1]"),
      "the server answered 403 to http://[::1]:4242/api/put: No: User a lacks a role");
  EXPECT_EQ(told(400, R"({"error":{"message":"Bad","details":"Bad x"}})"),
            "the server answered 400 to http://tsd:4242/base/api/put: Bad x");
  EXPECT_EQ(told(500, ""), "the server answered 500 to http://tsd:4242/base/api/put");
}

TEST(ServerAnswer, IsToldInOneShortLine) {
  const std::string page = "<html>\r\n<h1>Not found</h1>\x1B" + std::string(500, 'x');
  const std::string text = told(404, page);
  EXPECT_TRUE(
      text.starts_with("the server answered 404 to http://tsd:4242/base/api/put: not JSON: "
                       "<html>  <h1>Not found</h1> x"))
      << text;
  EXPECT_LT(text.size(), 200U);
}

}  // namespace
}  // namespace halite::app
