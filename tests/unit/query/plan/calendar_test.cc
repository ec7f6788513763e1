#include "query/plan/calendar.h"

#include <string>

#include <gtest/gtest.h>

#include "query/parse/time.h"

namespace halite::query {
namespace {

Calendar calendar(const std::string& unit, std::int32_t count, const std::string& zone) {
  return {unit, count, *find_time_zone(zone)};
}

// "2013/03/31-02:00:00" in the zone.
TimestampMs at(const std::string& text, const std::string& zone) {
  return *parse_time(text, {.now = 0, .timezone = zone});
}

TEST(Calendar, DaysHave23And25Hours) {
  const std::string paris = "Europe/Paris";
  const Calendar days = calendar("d", 1, paris);
  const TimestampMs spring = at("2013/03/31-00:00:00", paris);
  EXPECT_EQ(days.bucket_start(at("2013/03/31-23:59:59", paris)), spring);
  EXPECT_EQ(days.next(spring) - spring, 23 * 3'600'000);
  const TimestampMs autumn = at("2013/10/27-00:00:00", paris);
  EXPECT_EQ(days.next(autumn) - autumn, 25 * 3'600'000);
}

TEST(Calendar, AnAnchorInARepeatedHourIsNotAfterTheTime) {
  const std::string paris = "Europe/Paris";
  const Calendar quarters = calendar("m", 15, paris);
  // 02:20 in summer time, an hour before 02:20 in winter time.
  const TimestampMs first = at("2013/10/27-02:20:00", paris) - 3'600'000;
  EXPECT_EQ(quarters.bucket_start(first), first - 5 * 60'000);
  EXPECT_EQ(quarters.bucket_start(first + 3'600'000), first + 3'600'000 - 5 * 60'000);
}

TEST(Calendar, AMidnightThatDoesNotExist) {
  const std::string zone = "America/Sao_Paulo";
  const Calendar days = calendar("d", 1, zone);
  const TimestampMs before = at("2013/10/19-00:00:00", zone);
  EXPECT_EQ(days.next(before), at("2013/10/20-01:00:00", zone));
  EXPECT_EQ(days.bucket_start(at("2013/10/20-12:00:00", zone)), at("2013/10/20-01:00:00", zone));
}

TEST(Calendar, Anchors) {
  const TimestampMs time = at("2013/05/15-13:47:23", "");  // a Wednesday
  const auto start = [time](const std::string& unit, std::int32_t count) {
    return calendar(unit, count, "").bucket_start(time);
  };
  EXPECT_EQ(start("s", 10), at("2013/05/15-13:47:20", ""));
  EXPECT_EQ(start("s", 7), at("2013/05/15-13:47:22", ""));  // 406 x 7 s after 13:00
  EXPECT_EQ(start("m", 15), at("2013/05/15-13:45:00", ""));
  EXPECT_EQ(start("m", 7), at("2013/05/15-13:46:00", ""));  // 118 x 7 min after midnight
  EXPECT_EQ(start("h", 6), at("2013/05/15-12:00:00", ""));
  EXPECT_EQ(start("h", 5), at("2013/05/15-09:00:00", ""));  // 69 x 5 h after 1 May
  EXPECT_EQ(start("d", 1), at("2013/05/15", ""));
  EXPECT_EQ(start("d", 10), at("2013/05/11", ""));  // 13 x 10 d after New Year
  EXPECT_EQ(start("w", 1), at("2013/05/12", ""));
  EXPECT_EQ(start("w", 3), at("2013/05/12", ""));
  EXPECT_EQ(start("n", 1), at("2013/05/01", ""));
  EXPECT_EQ(start("n", 3), at("2013/04/01", ""));
  EXPECT_EQ(start("y", 1), at("2013/01/01", ""));
  EXPECT_EQ(start("ms", 250), time);
}

TEST(Calendar, GridsRunOnWithoutNewAnchors) {
  const Calendar tens = calendar("d", 10, "");
  const TimestampMs last = at("2013/12/27", "");  // 36 x 10 d after New Year
  EXPECT_EQ(tens.bucket_start(last), last);
  EXPECT_EQ(tens.next(last), at("2014/01/06", ""));
  EXPECT_EQ(tens.advance(last, at("2014/01/20", "")), at("2014/01/16", ""));
  const Calendar hours = calendar("h", 5, "");
  EXPECT_EQ(hours.advance(at("2013/01/31-20:00:00", ""), at("2013/02/01-03:00:00", "")),
            at("2013/02/01-01:00:00", ""));
}

TEST(Calendar, MonthsAndYearsOfAnyLength) {
  const Calendar months = calendar("n", 1, "");
  EXPECT_EQ(months.next(at("2012/02/01", "")), at("2012/03/01", ""));
  EXPECT_EQ(calendar("y", 2, "").next(at("2012/01/01", "")), at("2014/01/01", ""));
}

TEST(Calendar, CountsBeyondAllTimesDoNotOverflow) {
  for (const char* unit : {"ms", "s", "m", "h", "d", "w", "n", "y"}) {
    const Calendar huge = calendar(unit, INT32_MAX, "Europe/Paris");
    const TimestampMs start = huge.bucket_start(kTimeEnd);
    EXPECT_LE(start, kTimeEnd) << unit;
    EXPECT_GT(huge.next(start), start) << unit;
  }
}

}  // namespace
}  // namespace halite::query
