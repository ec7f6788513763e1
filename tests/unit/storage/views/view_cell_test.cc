#include "storage/views/view_cell.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

constexpr ViewFunctions kAll = {.sum = true, .min = true, .max = true};

std::array<BucketTotals, 4> sample_unit() {
  std::array<BucketTotals, 4> unit;
  for (const double number : {1.0, -5.0, 9007199254740992.0}) unit[1].add(number);
  for (const double number : {0.1, -0.0, -std::numeric_limits<double>::infinity()}) {
    unit[3].add(number);
  }
  return unit;
}

TEST(ViewCell, KeepsTheBitsOfTotals) {
  const auto unit = sample_unit();
  const Bytes cell = view_cell(kAll, unit);
  EXPECT_EQ(to_hex(cell).substr(0, 6), "010103");  // version, one bucket skipped, three points
  std::array<BucketTotals, 4> read;
  ASSERT_TRUE(parse_view_cell(kAll, cell, read));
  EXPECT_EQ(read, unit);
}

TEST(ViewCell, NotANumberCountsAsAPointWithoutAValue) {
  std::array<BucketTotals, 2> unit;
  unit[0].add(std::nan(""));
  std::array<BucketTotals, 2> read;
  ASSERT_TRUE(parse_view_cell(kAll, view_cell(kAll, unit), read));
  EXPECT_TRUE(read[0].any);
  EXPECT_EQ(read[0].count, 0U);
  EXPECT_FALSE(read[1].any);
}

TEST(ViewCell, StoresOnlyItsFunctions) {
  const auto unit = sample_unit();
  const ViewFunctions sums = {.sum = true, .min = false, .max = false};
  EXPECT_LT(view_cell(sums, unit).size(), view_cell(kAll, unit).size());
  std::array<BucketTotals, 4> read;
  ASSERT_TRUE(parse_view_cell(sums, view_cell(sums, unit), read));
  EXPECT_EQ(read[1].sum, unit[1].sum);
  EXPECT_EQ(read[1].count, 3U);
}

TEST(ViewCell, KeepsSketches) {
  const ViewFunctions sketches = {.sum = false, .min = false, .max = false, .sketch = true};
  auto unit = sample_unit();
  for (const double number : {1.0, -5.0, 9007199254740992.0}) unit[1].sketch.add(number);
  for (const double number : {0.1, -0.0, -std::numeric_limits<double>::infinity()}) {
    unit[3].sketch.add(number);
  }
  const Bytes cell = view_cell(sketches, unit);
  std::array<BucketTotals, 4> read;
  ASSERT_TRUE(parse_view_cell(sketches, cell, read));
  EXPECT_EQ(read[1].sketch, unit[1].sketch);
  EXPECT_EQ(read[3].sketch, unit[3].sketch);
  EXPECT_TRUE(read[0].sketch.empty());
  EXPECT_FALSE(parse_view_cell(sketches, cell.substr(0, cell.size() - 1), read));
  unit[1].count = 4;  // not that of the sketch
  EXPECT_FALSE(parse_view_cell(sketches, view_cell(sketches, unit), read));
}

TEST(ViewCell, TotalsAddUpWithTheirSketches) {
  BucketTotals one;
  one.sketch.add(1);
  BucketTotals two;
  two.sketch.add(2);
  one.add(two);
  EXPECT_EQ(one.sketch.count(), 2U);
}

TEST(ViewCell, WithoutPointsIsEmpty) {
  EXPECT_TRUE(view_cell(kAll, std::array<BucketTotals, 3>()).empty());
}

TEST(ViewCell, DamageIsFound) {
  const Bytes cell = view_cell(kAll, sample_unit());
  std::array<BucketTotals, 4> read;
  EXPECT_FALSE(parse_view_cell(kAll, "", read));
  EXPECT_FALSE(parse_view_cell(kAll, "\x02" + cell.substr(1), read));
  EXPECT_FALSE(parse_view_cell(kAll, cell.substr(0, cell.size() - 1), read));
  EXPECT_FALSE(parse_view_cell(kAll, cell + cell.substr(1), read));  // more buckets than the unit
  std::array<BucketTotals, 3> shorter;
  EXPECT_FALSE(parse_view_cell(kAll, cell, shorter));
}

}  // namespace
}  // namespace halite::storage
