#include "ingest/formats/times.h"

#include <gtest/gtest.h>

namespace halite::ingest {
namespace {

TEST(FormatTimes, AreRoundedDown) {
  EXPECT_EQ(time_in(1'700'000'000'123'999'999, TimeUnit::kNanoseconds), 1'700'000'000'123);
  EXPECT_EQ(time_in(1'700'000'000'123'999, TimeUnit::kMicroseconds), 1'700'000'000'123);
  EXPECT_EQ(time_in(1'700'000'000'123, TimeUnit::kMilliseconds), 1'700'000'000'123);
  EXPECT_EQ(time_in(1'700'000'000, TimeUnit::kSeconds), 1'700'000'000'000);
  EXPECT_EQ(time_in(28'333'333, TimeUnit::kMinutes), 1'699'999'980'000);
  EXPECT_EQ(time_in(472'222, TimeUnit::kHours), 1'699'999'200'000);
  EXPECT_EQ(time_in(0, TimeUnit::kNanoseconds), 0);
  EXPECT_EQ(time_in(999'999, TimeUnit::kNanoseconds), 0);
}

TEST(FormatTimes, HaveAnEnd) {
  EXPECT_EQ(time_in(kTimestampMax, TimeUnit::kMilliseconds), kTimestampMax);
  EXPECT_EQ(time_in(kTimestampMax + 1, TimeUnit::kMilliseconds).error(),
            "the time 10000000000000 is more than 9999999999999 ms");
  EXPECT_EQ(time_in(9'999'999'999, TimeUnit::kSeconds), 9'999'999'999'000);
  EXPECT_FALSE(time_in(10'000'000'000, TimeUnit::kSeconds));
  EXPECT_EQ(time_in(INT64_MAX, TimeUnit::kNanoseconds), 9'223'372'036'854);
  EXPECT_FALSE(time_in(INT64_MAX, TimeUnit::kMicroseconds));
  EXPECT_FALSE(time_in(INT64_MAX, TimeUnit::kHours));
  EXPECT_EQ(time_in(-1, TimeUnit::kNanoseconds).error(), "the time -1 is before 1970");
  EXPECT_FALSE(time_in(INT64_MIN, TimeUnit::kMilliseconds));
}

TEST(FormatTimes, InOtherUnitsAreRefused) {
  EXPECT_EQ(time_in(1'700'000'000, TimeUnit::kMilliseconds).error(),
            "the time 1700000000 looks like seconds, it has to be in milliseconds");
  EXPECT_EQ(time_in(1'700'000'000'000, TimeUnit::kHours).error(),
            "the time 1700000000000 looks like milliseconds, it has to be in hours");
  // The window of seconds: 2001 to 2106.
  EXPECT_TRUE(time_in(999'999'999, TimeUnit::kMilliseconds));
  EXPECT_FALSE(time_in(1'000'000'000, TimeUnit::kMilliseconds));
  EXPECT_FALSE(time_in(4'294'967'295, TimeUnit::kMilliseconds));
  EXPECT_TRUE(time_in(4'294'967'296, TimeUnit::kMilliseconds));
}

TEST(FormatTimes, OfSecondsWithAFraction) {
  EXPECT_EQ(read_seconds("1700000000.123"), 1'700'000'000'123);
  EXPECT_EQ(read_seconds("1700000000.1239"), 1'700'000'000'123);
  EXPECT_EQ(read_seconds("1700000000.5"), 1'700'000'000'500);
  EXPECT_EQ(read_seconds("1700000000."), 1'700'000'000'000);
  EXPECT_EQ(read_seconds("0.001"), 1);
  EXPECT_EQ(read_seconds("1.7000000001e9"), 1'700'000'000'100);
  EXPECT_FALSE(read_seconds("."));
  EXPECT_FALSE(read_seconds(""));
  EXPECT_FALSE(read_seconds("1.5.5"));
  EXPECT_FALSE(read_seconds("1e300"));
  EXPECT_FALSE(read_seconds("-0.5"));
  EXPECT_FALSE(read_seconds("NaN"));
}

TEST(FormatTimes, OfRfc3339) {
  EXPECT_EQ(read_rfc3339("2023-11-14T22:13:20Z"), 1'700'000'000'000);
  EXPECT_EQ(read_rfc3339("2023-11-14t22:13:20.1239z"), 1'700'000'000'123);
  EXPECT_EQ(read_rfc3339("2023-11-14 23:13:20+01:00"), 1'700'000'000'000);
  EXPECT_EQ(read_rfc3339("2023-11-14T16:43:20-05:30"), 1'700'000'000'000);
  EXPECT_EQ(read_rfc3339("1969-12-31T23:59:59.999Z"), -1);
  EXPECT_EQ(read_rfc3339("2024-02-29T00:00:00Z"), 1'709'164'800'000);
  for (const char* const text :
       {"", "2023", "2023-11-14", "2023-11-14T22:13:20", "2023-13-14T22:13:20Z",
        "2023-02-29T00:00:00Z", "2023-11-14T24:13:20Z", "2023-11-14T22:60:20Z",
        "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20+1:00", "2023-11-14T22:13:20Zx",
        "2023-11-14T22:13:20+01:00x", "2023/11/14T22:13:20Z"}) {
    EXPECT_EQ(read_rfc3339(text), std::nullopt) << text;
  }
}

TEST(FormatTimes, UnitsHaveNames) {
  EXPECT_EQ(time_unit_named("ns"), TimeUnit::kNanoseconds);
  EXPECT_EQ(time_unit_named("u"), TimeUnit::kMicroseconds);
  EXPECT_EQ(time_unit_named("m"), TimeUnit::kMinutes);
  EXPECT_EQ(time_unit_named("x"), std::nullopt);
}

}  // namespace
}  // namespace halite::ingest
