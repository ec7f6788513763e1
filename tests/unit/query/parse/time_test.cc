#include "query/parse/time.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cctz/zone_info_source.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query {
namespace {

constexpr TimestampMs kNow = 1'400'000'000'000;

std::string time_text(const std::string& text, const std::string& zone = "") {
  const auto time = parse_time(text, {.now = kNow, .timezone = zone});
  return time ? std::to_string(*time) : time.error().message;
}

std::string duration_text(const std::string& text) {
  const auto duration = parse_duration(text);
  return duration ? std::to_string(*duration) : duration.error().message;
}

TEST(Time, EveryFormat) {
  EXPECT_EQ(time_text("1356998400"), "1356998400000");
  EXPECT_EQ(time_text("1356998400250"), "1356998400250");
  EXPECT_EQ(time_text("13569984005"), "13569984005");  // eleven digits are milliseconds
  EXPECT_EQ(time_text("1356998400250ms"), "1356998400250");
  EXPECT_EQ(time_text("5ms"), "5");
  EXPECT_EQ(time_text("now"), "1400000000000");
  EXPECT_EQ(time_text("NOW"), "1400000000000");
  EXPECT_EQ(time_text("1h-ago"), "1399996400000");
  EXPECT_EQ(time_text("2H-AGO"), "1399992800000");
  EXPECT_EQ(time_text("10min-ago"), std::to_string(kNow - 10 * 30 * 86'400'000LL));
  EXPECT_EQ(time_text("1356998400.250"), "1356998400250");
  EXPECT_EQ(time_text("1356998400.5"), "13569984005");  // only three decimals are right
  EXPECT_EQ(time_text("2013/01/01"), "1356998400000");
  EXPECT_EQ(time_text("2013/01/01-00:10"), "1356999000000");
  EXPECT_EQ(time_text("2013/01/01 00:10"), "1356999000000");
  EXPECT_EQ(time_text("2013/01/01-00:10:05"), "1356999005000");
  EXPECT_EQ(time_text("2013/01/01 00:10:05"), "1356999005000");
  EXPECT_EQ(time_text("2012/13/01"), "1356998400000");    // month 13 rolls over
  EXPECT_EQ(time_text("01/01/2013"), "-61961932800000");  // year 1, Julian calendar
}

TEST(Time, Zones) {
  EXPECT_EQ(time_text("2013/01/01-01:00:00", "Europe/Paris"), "1356998400000");
  EXPECT_EQ(time_text("2012/12/31-19:00:00", "America/New_York"), "1356998400000");
  // 02:30 does not exist that day: it becomes 03:30.
  EXPECT_EQ(time_text("2013/03/31-02:30:00", "Europe/Paris"), "1364693400000");
  // 02:30 comes twice that day: the second, in winter time.
  EXPECT_EQ(time_text("2013/10/27-02:30:00", "Europe/Paris"), "1382837400000");
  EXPECT_EQ(time_text("2013/01/01", "Nowhere/Land"), "Invalid timezone name: Nowhere/Land");
  EXPECT_EQ(time_text("2013/01/01", "GMT+1"), "Invalid timezone name: GMT+1");
  EXPECT_EQ(time_text("2013/01/01", "../../etc/passwd"), "Invalid timezone name: ../../etc/passwd");
  EXPECT_EQ(time_text("2013/01/01", "/etc/localtime"), "Invalid timezone name: /etc/localtime");
  EXPECT_EQ(time_text("1356998400", "Nowhere/Land"), "1356998400000");
}

TEST(Time, Refusals) {
  EXPECT_EQ(time_text("1x-ago"), "Invalid duration (suffix): 1x");
  EXPECT_EQ(time_text("-ago"), "Cannot parse null or empty duration");
  EXPECT_EQ(time_text("-5"), "Invalid time: -5. Negative timestamps are not supported.");
  EXPECT_EQ(time_text("abc"), "Invalid time: abc. Invalid character 'a' in abc");
  EXPECT_EQ(time_text("99999999999999999999"),
            "Invalid time: 99999999999999999999. Value too long: 99999999999999999999");
  EXPECT_EQ(time_text("9999999999999999999"),
            "Invalid time: 9999999999999999999. Overflow in 9999999999999999999");
  EXPECT_EQ(time_text("1356998400.1234"),
            "Invalid time: 1356998400.1234. Millisecond timestamps must be in the format "
            "<seconds>.<ms> where the milliseconds are limited to 3 digits");
  EXPECT_EQ(time_text("2013/01/1"), "Invalid absolute date: 2013/01/1");
  EXPECT_EQ(time_text("2013/ab/01"), "Invalid date: 2013/ab/01. Unparseable date: \"2013/ab/01\"");
  EXPECT_EQ(time_text("2013-01-01T00:00:00"),
            "Invalid date: 2013-01-01T00:00:00. Unparseable date: \"2013-01-01T00:00:00\"");
}

// cctz keeps each name that it was asked for, and looks for a file of it.
TEST(TimeZones, NamesThatTheSystemDoesNotHaveDoNotReachTheLibrary) {
  static int loads;
  loads = 0;
  const auto before = cctz_extension::zone_info_source_factory;
  cctz_extension::zone_info_source_factory =
      [](const std::string& name,
         const std::function<std::unique_ptr<cctz::ZoneInfoSource>(const std::string&)>& open) {
        ++loads;
        return open(name);
      };
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(
        find_time_zone("Nowhere/Land" + std::string(static_cast<std::size_t>(i % 9), 'x')));
  }
  EXPECT_EQ(loads, 0);
  EXPECT_TRUE(find_time_zone("Pacific/Chatham"));
  cctz_extension::zone_info_source_factory = before;
  EXPECT_EQ(loads, 1);
}

TEST(Duration, UnitsAndQuirks) {
  EXPECT_EQ(duration_text("500ms"), "500");
  EXPECT_EQ(duration_text("1s"), "1000");
  EXPECT_EQ(duration_text("2M"), "120000");
  EXPECT_EQ(duration_text("1h"), "3600000");
  EXPECT_EQ(duration_text("1d"), "86400000");
  EXPECT_EQ(duration_text("1w"), "604800000");
  EXPECT_EQ(duration_text("1n"), "2592000000");
  EXPECT_EQ(duration_text("1y"), "31536000000");
  EXPECT_EQ(duration_text("1.5h"), "3600000");
  EXPECT_EQ(duration_text("1 m"), "60000");
  EXPECT_EQ(duration_text("1us"), "1000");
}

TEST(Duration, Refusals) {
  EXPECT_EQ(duration_text(""), "Cannot parse null or empty duration");
  EXPECT_EQ(duration_text("5"), "Invalid duration, must have an integer and unit: 5");
  EXPECT_EQ(duration_text("m"), "Invalid duration (number): m");
  EXPECT_EQ(duration_text("-5m"), "Invalid duration (number): -5m");
  EXPECT_EQ(duration_text("99999999999999999999m"),
            "Invalid duration (number): 99999999999999999999m");
  EXPECT_EQ(duration_text("0s"), "Zero or negative duration: 0s");
  EXPECT_EQ(duration_text("1q"), "Invalid duration (suffix): 1q");
  EXPECT_EQ(duration_text("9223372036854775807m"),
            "Duration must be < Long.MAX_VALUE ms: 9223372036854775807m");
}

}  // namespace
}  // namespace halite::query
