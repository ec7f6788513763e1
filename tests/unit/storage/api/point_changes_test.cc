#include "storage/api/point_changes.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "common/clock.h"

namespace halite::storage {
namespace {

constexpr TimestampMs kUnchanged = std::numeric_limits<TimestampMs>::max();
constexpr TimestampMs kForgotten = std::numeric_limits<TimestampMs>::min();
constexpr std::int64_t kPeriodMs = 1000;

class PointChangesTest : public ::testing::Test {
 protected:
  FakeClock clock_{1'000'000};
  PointChanges changes_{clock_};
};

TEST_F(PointChangesTest, TheEarliestChangeCounts) {
  const PointChanges::Mark mark = changes_.mark();
  EXPECT_EQ(changes_.unchanged_before(mark), kUnchanged);
  changes_.changed_from(500);
  changes_.changed_from(700);
  EXPECT_EQ(changes_.unchanged_before(mark), 500);
  changes_.changed_from(-3);
  EXPECT_EQ(changes_.unchanged_before(mark), -3);
}

TEST_F(PointChangesTest, ChangesOfEarlierPeriodsAreBeforeTheMark) {
  changes_.changed_from(500);
  clock_.advance(kPeriodMs);
  const PointChanges::Mark mark = changes_.mark();
  EXPECT_EQ(changes_.unchanged_before(mark), kUnchanged);
  changes_.changed_from(700);
  EXPECT_EQ(changes_.unchanged_before(mark), 700);
}

TEST_F(PointChangesTest, AChangeShortlyBeforeTheMarkCounts) {
  changes_.changed_from(500);
  clock_.advance(kPeriodMs - 1);
  EXPECT_EQ(changes_.unchanged_before(changes_.mark()), 500);
}

TEST_F(PointChangesTest, EachMarkSeesWhatCameAfterIt) {
  const PointChanges::Mark first = changes_.mark();
  changes_.changed_from(100);
  clock_.advance(kPeriodMs);
  const PointChanges::Mark second = changes_.mark();
  changes_.changed_from(200);
  clock_.advance(kPeriodMs);
  const PointChanges::Mark third = changes_.mark();
  EXPECT_EQ(changes_.unchanged_before(first), 100);
  EXPECT_EQ(changes_.unchanged_before(second), 200);
  EXPECT_EQ(changes_.unchanged_before(third), kUnchanged);
}

TEST_F(PointChangesTest, PeriodsWithoutChangesNeedNoRoom) {
  const PointChanges::Mark mark = changes_.mark();
  for (int i = 0; i < 10'000; ++i) {
    clock_.advance(kPeriodMs);
    EXPECT_EQ(changes_.mark(), mark);
  }
  EXPECT_EQ(changes_.unchanged_before(mark), kUnchanged);
}

TEST_F(PointChangesTest, AnOldMarkIsForgotten) {
  const PointChanges::Mark mark = changes_.mark();
  for (int i = 0; i < 4095; ++i) {
    changes_.changed_from(1000);
    clock_.advance(kPeriodMs);
    static_cast<void>(changes_.mark());
  }
  EXPECT_EQ(changes_.unchanged_before(mark), 1000);
  changes_.changed_from(1000);
  clock_.advance(kPeriodMs);
  const PointChanges::Mark later = changes_.mark();
  EXPECT_EQ(changes_.unchanged_before(mark), kForgotten);
  EXPECT_EQ(changes_.unchanged_before(later), kUnchanged);
}

}  // namespace
}  // namespace halite::storage
