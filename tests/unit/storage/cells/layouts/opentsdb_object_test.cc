// What .bytes files do not ask of annotation and rollup cells: ranges of rows and refusals.
#include <limits>

#include <gtest/gtest.h>

#include "storage/cells/layouts/annotation_cell.h"
#include "storage/cells/layouts/rollup_cell.h"
#include "tests/unit/storage/cells/layouts/examples.h"

namespace halite::storage {
namespace {

std::unique_ptr<OpentsdbLayout> salted() {
  return OpentsdbLayout::make({{3, 3, 3}, 1, 20}).value();
}

TEST(Annotations, GlobalOnesLieInTheRowsOfTheirHours) {
  const auto layout = salted();
  const KeyRange rows = global_annotation_rows(*layout, {kBase + 10'000, kBase + 3'600'001});
  EXPECT_EQ(to_hex(rows.begin), "0000000050E22700");
  EXPECT_EQ(to_hex(rows.end), "0000000050E23511");
  for (const std::int64_t start : {kBase / 1000, kBase + 20'500, kBase + 3'600'000}) {
    const AnnotationKey place = annotation_key(*layout, "", start).value();
    EXPECT_GE(place.row, rows.begin);
    EXPECT_LT(place.row, rows.end);
    EXPECT_TRUE(is_annotation(place.qualifier));
  }
  EXPECT_GE(annotation_key(*layout, "", kBase + 7'200'000)->row, rows.end);
}

TEST(Annotations, AnEmptyRangeHasNoRows) {
  const KeyRange rows = global_annotation_rows(*salted(), {kBase, kBase});
  EXPECT_FALSE(rows.begin.empty());  // empty bounds would mean the whole table
  EXPECT_EQ(rows.begin, rows.end);
}

TEST(Annotations, TimesOutsideTheRowsAreRefused) {
  const auto layout = salted();
  for (const std::int64_t start : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(annotation_key(*layout, "", start).error().code, Errc::kInvalidArgument) << start;
  }
  EXPECT_TRUE(annotation_key(*layout, "", 0));
}

TEST(Annotations, OtherQualifiersAreNone) {
  for (const std::string_view text : {"", "01", "0100", "01000000", "060000", "0100000000FF"}) {
    EXPECT_FALSE(is_annotation(from_hex(text).value())) << text;
  }
}

TEST(Rollups, TimesOutsideTheRowsAreRefused) {
  const auto layout = salted();
  const Bytes tsuid = from_hex("000001000001000001").value();
  for (const std::int64_t time :
       {std::int64_t{-1}, std::int64_t{1} << 32, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(rollup_cell(*layout, {}, 0, tsuid, time, 1, 0).error().code, Errc::kInvalidArgument)
        << time;
  }
  const RollupCell cell = rollup_cell(*layout, {}, 0, tsuid, kBase / 1000, 1, 0).value();
  EXPECT_EQ(to_hex(cell.row), "0800000150E22700000001000001");
}

TEST(Rollups, RowsBeginWithTheirCalendarUnit) {
  const auto base = [](RollupSpan span, std::int64_t time) {
    return rollup_base({3600, span, 1}, time);
  };
  constexpr std::int64_t kLeapDay = 1'330'473'600;  // 2012-02-29T00:00:00Z
  EXPECT_EQ(base(RollupSpan::kDay, kLeapDay + 86'399), kLeapDay);
  EXPECT_EQ(base(RollupSpan::kMonth, kLeapDay + 86'399), 1'328'054'400);  // 2012-02-01
  EXPECT_EQ(base(RollupSpan::kMonth, kLeapDay + 86'400), 1'330'560'000);  // 2012-03-01
  EXPECT_EQ(base(RollupSpan::kYear, kLeapDay), 1'325'376'000);            // 2012-01-01
  EXPECT_EQ(rollup_base({300, RollupSpan::kHours, 6}, kLeapDay + 7 * 3600), kLeapDay + 6 * 3600);
}

}  // namespace
}  // namespace halite::storage
