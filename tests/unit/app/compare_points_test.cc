#include "app/bulk/compare_points.h"

#include <string>

#include <gtest/gtest.h>

#include "common/units.h"
#include "tests/unit/app/scripted_source.h"

namespace halite::app {
namespace {

constexpr TimestampMs kFirst = 1'356'998'400'000;

class ComparePointsTest : public ::testing::Test {
 protected:
  ComparePointsTest() {
    for (ScriptedSource* const source : {&first_, &second_}) {
      source->slice_ranges = {.min = 1000, .first = kHourMs, .max = kDayMs};
      for (int i = 0; i < 500; ++i) {
        for (const char* const host : {"a", "b"}) source->add("m", host, time_of(i), i);
      }
      source->add("other", "a", kFirst, 1);
    }
    // Slices end elsewhere.
    second_.slice_ranges = {.min = 7000, .first = 3 * kHourMs + 5, .max = 11 * kDayMs};
  }
  static TimestampMs time_of(int i) { return kFirst + TimestampMs{i} * 7 * 60'000; }

  PointDifferences compare(std::size_t hours_max = 2 << 20, bool kinds = true) {
    const auto found =
        compare_points(first_, second_,
                       {.range = {.begin = kFirst - 100 * kDayMs, .end = kFirst + 100 * kDayMs},
                        .threads = 3,
                        .kinds = kinds,
                        .hours_max = hours_max});
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(PointDifferences{});
  }

  ScriptedSource first_;
  ScriptedSource second_;
};

TEST_F(ComparePointsTest, FindsEqualSourcesEqual) {
  const PointDifferences found = compare();
  EXPECT_TRUE(found.equal());
  EXPECT_TRUE(found.contained());
  EXPECT_EQ(found.points, 1001U);
  EXPECT_TRUE(found.examples.empty());
}

TEST_F(ComparePointsTest, NamesWhatIsMissing) {
  first_.add("m", "a", time_of(40) + 1, 1);
  first_.add("m", "new", time_of(40), 1);
  first_.add("new", "a", time_of(40), 1);
  const PointDifferences found = compare();
  EXPECT_EQ(found.missing, 3U);
  EXPECT_EQ(found.different + found.extra, 0U);
  EXPECT_FALSE(found.contained());
  ASSERT_EQ(found.examples.size(), 3U);
  EXPECT_EQ(found.examples[0], "missing: m host=a at " + std::to_string(time_of(40) + 1));
}

TEST_F(ComparePointsTest, NamesASeriesInOneLine) {
  first_.add("m", "two\nlines\x1B[2J\xED\xA0\xBD", time_of(40), 1);
  const PointDifferences found = compare();
  ASSERT_EQ(found.examples.size(), 1U);
  EXPECT_TRUE(found.examples[0].contains("host=two lines [2J\uFFFD at ")) << found.examples[0];
}

TEST_F(ComparePointsTest, NamesWhatIsOnlyInTheSecond) {
  second_.add("m", "a", time_of(40) + 1, 1);
  second_.add("new", "a", time_of(40), 1);
  const PointDifferences found = compare();
  EXPECT_EQ(found.extra, 2U);
  EXPECT_TRUE(found.contained());
  EXPECT_FALSE(found.equal());
}

TEST_F(ComparePointsTest, NamesOtherValues) {
  second_.add("m", "a", time_of(40), 41);
  second_.add("m", "b", ingest::integer_point(time_of(50), 50));  // of another kind
  second_.add("m", "b", time_of(0), -0.0);
  const PointDifferences found = compare();
  EXPECT_EQ(found.different, 3U);
  EXPECT_EQ(found.missing + found.extra, 0U);
  EXPECT_FALSE(found.contained());
  ASSERT_EQ(found.examples.size(), 3U);
  EXPECT_TRUE(found.examples[0].starts_with("another value: m host=")) << found.examples[0];
}

TEST_F(ComparePointsTest, TakesIntegersForEqualFloats) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;  // no double
  second_.add("m", "b", ingest::integer_point(time_of(50), 50));
  second_.add("m", "b", ingest::integer_point(time_of(0), 0));
  for (ScriptedSource* const source : {&first_, &second_}) {
    source->add("m", "a", ingest::integer_point(time_of(1) + 1, INT64_MAX));
    source->add("m", "a", ingest::integer_point(time_of(1) + 2, INT64_MIN));
  }
  EXPECT_TRUE(compare(2 << 20, false).equal());
  EXPECT_EQ(compare().different, 2U);
  first_.add("m", "a", ingest::integer_point(time_of(1) + 3, odd));
  second_.add("m", "a", time_of(1) + 3, static_cast<double>(odd));
  first_.add("m", "a", time_of(1) + 1, 9223372036854775808.0);
  second_.add("m", "b", ingest::integer_point(time_of(60), 61));
  EXPECT_EQ(compare(2 << 20, false).different, 3U);
}

// Two points of an hour whose values are exchanged.
TEST_F(ComparePointsTest, SeesWhichPointHasWhichValue) {
  second_.add("m", "a", time_of(40), 41);
  second_.add("m", "a", time_of(41), 40);
  EXPECT_EQ(compare().different, 2U);
}

TEST_F(ComparePointsTest, ShowsTheFirstExamples) {
  for (int i = 0; i < 100; ++i) first_.add("m", "c", time_of(i), 1);
  const PointDifferences found = compare();
  EXPECT_EQ(found.missing, 100U);
  EXPECT_EQ(found.examples.size(), 10U);
}

// In several windows of time where there are more hours than fit into memory.
TEST_F(ComparePointsTest, CountsTheSameInSmallerWindows) {
  first_.add("m", "a", time_of(40) + 1, 1);
  second_.add("m", "b", time_of(400) + 1, 1);
  second_.add("m", "b", time_of(499), 1);
  for (const std::size_t hours_max : {1U, 30U, 60U, 100'000U}) {
    const PointDifferences found = compare(hours_max);
    EXPECT_EQ(found.points, 1002U) << hours_max;
    EXPECT_EQ(found.missing, 1U) << hours_max;
    EXPECT_EQ(found.extra, 1U) << hours_max;
    EXPECT_EQ(found.different, 1U) << hours_max;
  }
}

TEST_F(ComparePointsTest, EndsAtAnError) {
  for (ScriptedSource* const source : {&first_, &second_}) {
    source->trouble = [](const SourceSlice& slice) -> std::optional<Error> {
      if (slice.range.end < kFirst) return std::nullopt;
      return Error{Errc::kUnavailable, "gone", {}};
    };
    const auto found = compare_points(
        first_, second_, {.range = {.begin = kFirst - kDayMs, .end = kFirst + kDayMs}});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message, "gone");
    source->trouble = nullptr;
  }
}

}  // namespace
}  // namespace halite::app
