// Estimates of a table that keeps no numbers about its rows: some of them are read.
#include <gtest/gtest.h>

#include "tests/unit/storage/cells/cell_point_store_fixture.h"

namespace halite::storage {
namespace {

constexpr TimestampMs kHour = 3'600'000;

class EstimateBySampleTest : public CellPointStoreTest {
 protected:
  void SetUp() override {
    unruly_.no_estimates = true;
    CellPointStoreOptions options;
    options.scan.shared_tables = true;  // as on HBase
    open(options);
  }

  // So many hours before kHourBegin, a point every `every_ms`, of the even hours only if so asked.
  void fill(const std::string& host, int hours, TimestampMs every_ms, bool even_only = false) {
    const SeriesId id = intern(host);
    PointBatch batch;
    for (int hour = 1; hour <= hours; ++hour) {
      if (even_only && hour % 2 == 1) continue;
      for (TimestampMs at = 0; at < kHour; at += every_ms) {
        batch.add(id, kHourBegin - hour * kHour + at, integer_bits(at), 0);
      }
    }
    ASSERT_TRUE(run_task(run_task(points_->append(std::move(batch))).value().durable.wait()));
  }

  ReadEstimate estimate(TimeRange range, SeriesQuery query = of_metric()) {
    const auto selection = run_task(points_->select(std::move(query), {})).value();
    const auto estimate = run_task(points_->estimate(selection, range));
    EXPECT_TRUE(estimate) << estimate.error().message;
    return estimate ? *estimate : ReadEstimate();
  }

  static SeriesQuery of_metric() {
    SeriesQuery query;
    query.metric = "m";
    return query;
  }

  static TimeRange last_hours(int hours) { return {kHourBegin - hours * kHour, kHourBegin}; }
};

TEST_F(EstimateBySampleTest, FewRowsAreAllCounted) {
  fill("a", 3, 60'000);
  fill("b", 2, 600'000);
  const ReadEstimate all = estimate(last_hours(4));
  EXPECT_EQ(all.series, 2U);
  EXPECT_EQ(all.rows, 5U);
  EXPECT_EQ(all.points, 180U + 12U);
  // A key of 13 bytes, qualifiers of 2, values of 1 to 4.
  EXPECT_GT(all.bytes, 192U * (24 + 13 + 2 + 1));
  EXPECT_LT(all.bytes, 192U * (24 + 13 + 2 + 4));

  EXPECT_EQ(estimate({kHourBegin - kHour, kHourBegin - kHour + 600'000}).points, 11U);
  EXPECT_EQ(estimate(last_hours(0)).rows, 0U);
  EXPECT_EQ(estimate({0, kHour}).rows, 0U);
}

TEST_F(EstimateBySampleTest, OnlyWhatIsSelectedCounts) {
  fill("a", 3, 60'000);
  fill("b", 3, 1'000);
  SeriesQuery query = of_metric();
  query.filters = {TagFilter{.type = FilterType::kLiteralOr, .key = "host", .pattern = "a"}};
  EXPECT_EQ(estimate(last_hours(3), query).points, 180U);
  SeriesQuery named;
  named.tsuids = {Bytes(points_->series(intern("b")).tsuid.bytes())};
  const ReadEstimate of_tsuid = estimate(last_hours(3), named);
  EXPECT_EQ(of_tsuid.series, 1U);
  EXPECT_EQ(of_tsuid.points, 3U * 3600);
}

TEST_F(EstimateBySampleTest, ManyRowsAreOffByAFactorAtWorst) {
  for (int host = 0; host < 20; ++host) fill("h" + std::to_string(host), 24, 30'000, true);
  const ReadEstimate all = estimate(last_hours(24));
  EXPECT_EQ(all.series, 20U);
  EXPECT_GT(all.rows, 20U * 12 / 2);
  EXPECT_LT(all.rows, 20U * 12 * 2);
  EXPECT_EQ(all.points, all.rows * 120);
}

TEST_F(EstimateBySampleTest, NothingKnownIsNothingToRead) {
  fill("a", 1, 60'000);
  SeriesQuery query = of_metric();
  query.filters = {TagFilter{.type = FilterType::kLiteralOr, .key = "host", .pattern = "none"}};
  query.skip_unknown_values = true;
  const ReadEstimate none = estimate(last_hours(3), query);
  EXPECT_EQ(none.series, 0U);
  EXPECT_EQ(none.points, 0U);
}

}  // namespace
}  // namespace halite::storage
