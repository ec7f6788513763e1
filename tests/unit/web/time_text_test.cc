#include "web/json/time_text.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

std::string written_time(TimeText& times, std::int64_t time) {
  std::array<char, TimeText::kBytesMax> text;
  return {text.data(), times.write(text.data(), time)};
}

TEST(TimeText, ManyThatFollowEachOther) {
  TimeText times;
  for (std::int64_t time = 0; time < 30'000; time += 7) {
    ASSERT_EQ(written_time(times, time), std::to_string(time));
  }
  for (std::int64_t time = 1'767'200'000'000; time < 1'767'200'100'000; time += 9) {
    ASSERT_EQ(written_time(times, time), std::to_string(time));
  }
}

TEST(TimeText, AnyOrder) {
  TimeText times;
  for (const std::int64_t time :
       {std::int64_t{1'767'225'600}, std::int64_t{10'000}, std::int64_t{9999}, std::int64_t{10'001},
        std::int64_t{0}, std::int64_t{-1}, std::int64_t{-1'767'225'600},
        std::int64_t{1'767'225'601}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(written_time(times, time), std::to_string(time));
  }
}

}  // namespace
}  // namespace halite::web
