#include "common/json/json_value.h"

#include <cstdint>
#include <limits>
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

TEST(JsonValue, ReadsTheLeastAndTheGreatestInteger) {
  for (const std::int64_t value :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min() + 1,
        std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
    boost::system::error_code error;
    const boost::json::value read = parse_json_value(std::to_string(value), error);
    ASSERT_FALSE(error) << value;
    ASSERT_TRUE(read.is_int64()) << value;
    EXPECT_EQ(read.get_int64(), value);
  }
  boost::system::error_code error;
  EXPECT_TRUE(parse_json_value("-9223372036854775808.0", error).is_double());
  EXPECT_TRUE(parse_json_value("-9223372036854775809", error).is_double());
  EXPECT_TRUE(parse_json_value("-9223372036854775808e0", error).is_double());
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
