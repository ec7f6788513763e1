#include "common/json/json_value.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(JsonValue, ReadsTheNearestDouble) {
  for (const double value :
       {7.038531e-26, 0.1, 1e-320, 123456.7890123456789, 1.7976931348623157e308}) {
    boost::system::error_code error;
    const std::string text = fmt::format("{:.17g}", value);
    const boost::json::value read = parse_json_value(text, error);
    ASSERT_FALSE(error) << text;
    EXPECT_EQ(read.to_number<double>(), value) << text;
  }
}

TEST(JsonValue, RefusesWhatIsNotOneValue) {
  for (const char* const text : {"", "{", "[1] 2", "{\"a\":}", "nul", "\"\xFF\""}) {
    boost::system::error_code error;
    EXPECT_TRUE(parse_json_value(text, error).is_null());
    EXPECT_TRUE(error) << text;
  }
}

TEST(JsonValue, ReadsArraysUpToTheGreatestDepth) {
  for (const std::size_t over : {0, 1}) {
    const std::size_t depth = kJsonValueDepthMax + over;
    boost::system::error_code error;
    static_cast<void>(parse_json_value(std::string(depth, '[') + std::string(depth, ']'), error));
    EXPECT_EQ(static_cast<bool>(error), over == 1);
  }
}

}  // namespace
}  // namespace halite
