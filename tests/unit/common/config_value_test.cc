#include "common/config/config_value.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "common/config/near_name.h"

namespace halite {
namespace {

TEST(ConfigValue, Sizes) {
  EXPECT_EQ(parse_bytes("0").value(), 0);
  EXPECT_EQ(parse_bytes("512").value(), 512);
  EXPECT_EQ(parse_bytes("512 B").value(), 512);
  EXPECT_EQ(parse_bytes("32 MiB").value(), 32 << 20);
  EXPECT_EQ(parse_bytes("32mib").value(), 32 << 20);
  EXPECT_EQ(parse_bytes(" 2 GB ").value(), 2'000'000'000);
  EXPECT_EQ(parse_bytes("1 TiB").value(), 1ll << 40);
  for (const char* bad : {"", " ", "MiB", "-1", "1.5 MiB", "1 MiBs", "12x", "1 2", "99999999 TiB",
                          "9223372036854775808"}) {
    EXPECT_FALSE(parse_bytes(bad)) << bad;
  }
  EXPECT_EQ(parse_bytes("12x").error().message, "must be a size such as \"32 MiB\", not \"12x\"");
}

TEST(ConfigValue, Durations) {
  EXPECT_EQ(parse_duration_ms("0").value(), 0);
  EXPECT_EQ(parse_duration_ms("250").value(), 250);
  EXPECT_EQ(parse_duration_ms("250ms").value(), 250);
  EXPECT_EQ(parse_duration_ms("10s").value(), 10'000);
  EXPECT_EQ(parse_duration_ms("2 m").value(), 120'000);
  EXPECT_EQ(parse_duration_ms("1h").value(), 3'600'000);
  EXPECT_EQ(parse_duration_ms("1d").value(), 86'400'000);
  EXPECT_EQ(parse_duration_ms("1w").value(), 604'800'000);
  for (const char* bad : {"", "s", "1y", "-1s", "1h30m", "1e3", "99999999999999999d"}) {
    EXPECT_FALSE(parse_duration_ms(bad)) << bad;
  }
}

TEST(ConfigValue, CountsAndFlags) {
  EXPECT_EQ(parse_count("-7").value(), -7);
  EXPECT_EQ(parse_count("+7").value(), 7);
  EXPECT_FALSE(parse_count("7 tags"));
  EXPECT_FALSE(parse_count("0x10"));
  EXPECT_TRUE(parse_flag("Yes").value());
  EXPECT_FALSE(parse_flag("off").value());
  EXPECT_FALSE(parse_flag("maybe").has_value());
}

TEST(ConfigValue, WrittenAsTheyAreRead) {
  EXPECT_EQ(bytes_text(32 << 20), "32 MiB");
  EXPECT_EQ(bytes_text(1000), "1000 B");
  EXPECT_EQ(duration_text(86'400'000), "1d");
  EXPECT_EQ(duration_text(1500), "1500ms");
  EXPECT_EQ(duration_text(90'000), "90s");
  for (const std::int64_t number : {0ll, 1ll, 1023ll, 1024ll, 1500ll, 86'400'000ll, 1ll << 50}) {
    EXPECT_EQ(parse_bytes(bytes_text(number)).value(), number);
    EXPECT_EQ(parse_duration_ms(duration_text(number)).value(), number);
  }
}

TEST(ConfigValue, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("listen", "lsiten"), 2u);
}

}  // namespace
}  // namespace halite
