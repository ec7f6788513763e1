// The use of an id whose series was freed stops the process, in builds with
// HALITE_CHECK_SERIES_IDS.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "storage/api/pinned_series.h"
#include "storage/catalog/series_page.h"
#include "storage/catalog/series_table.h"

namespace halite::storage {
namespace {

constexpr UidWidths kWidths = {.metric = 1, .tag_key = 1, .tag_value = 2};

class StaleIdsTest : public testing::Test {
 protected:
  SeriesId add(std::uint64_t host) {
    NewSeries made;
    made.metric_uid = 1;
    made.metric = "m";
    append_be_width(made.tsuid, 1, 1);
    append_be_width(made.tsuid, 1, 1);
    append_be_width(made.tsuid, host, 2);
    made.tags.push_back({.key = "host", .value = "v", .key_uid = 1, .value_uid = host});
    return table_.add(made).value();
  }

  // As garbage collection removes a series, up to the wait for older pins.
  void remove(SeriesId id) {
    table_.mark_candidates({&id, 1});
    table_.epochs().advance();
    EXPECT_TRUE(table_.remove({&id, 1}, SeriesTable::Rows::kDeleted, removed_).empty());
    epoch_ = table_.epochs().advance();
  }
  bool reclaim() {
    if (!table_.epochs().released_before(epoch_)) return false;
    table_.reclaim(std::exchange(removed_, {}));
    return true;
  }

  static constexpr SeriesId kSeriesMax = 3;
  SeriesTable table_{{.series = kSeriesMax}, kWidths};
  SeriesTable::Removed removed_;
  std::uint64_t epoch_ = 0;
};

TEST_F(StaleIdsTest, AnIdWithAPinIsValidThoughItsSeriesIsRemoved) {
  auto pin = table_.pin();
  PinnedSeries series(std::move(pin), {add(1)});
  remove(series[0]);
  EXPECT_FALSE(reclaim());
  EXPECT_EQ(table_.at(series[0]).tags[0].value_uid, 1U);
  series = {};
  EXPECT_TRUE(reclaim());
}

TEST_F(StaleIdsTest, AnIdWithoutAPinStopsTheProcess) {
  if (!kIdsAreChecked) GTEST_SKIP() << "ids are checked with HALITE_CHECK_SERIES_IDS";
  const SeriesId stale = add(1);
  remove(stale);
  EXPECT_EQ(table_.at(stale).tags[0].value_uid, 1U);  // not freed yet
  EXPECT_TRUE(reclaim());
  EXPECT_DEATH(static_cast<void>(table_.at(stale)), "series id 0, generation 2: .* freed; acquire");
}

TEST_F(StaleIdsTest, AnIdWithoutAPinStopsTheProcessAlsoIfThereAreNewSeries) {
  if (!kIdsAreChecked) GTEST_SKIP() << "ids are checked with HALITE_CHECK_SERIES_IDS";
  const SeriesId stale = add(1);
  remove(stale);
  const auto late = table_.pin();  // younger than the removal, so it does not keep the id
  EXPECT_TRUE(reclaim());
  const SeriesId other = add(2);
  EXPECT_NE(other, stale);
  EXPECT_EQ(table_.at(other).tags[0].value_uid, 2U);
  EXPECT_DEATH(static_cast<void>(table_.at(stale)), "series id 0, generation 2");
}

// Only when no other id is left, the one that is free the longest serves another series.
TEST_F(StaleIdsTest, IdsAreReusedWhenAllWereGivenOnce) {
  if (!kIdsAreChecked) GTEST_SKIP() << "ids are checked with HALITE_CHECK_SERIES_IDS";
  EXPECT_EQ(add(1), 0U);
  EXPECT_EQ(add(2), 1U);
  for (const SeriesId id : {SeriesId(1), SeriesId(0)}) {
    remove(id);
    EXPECT_TRUE(reclaim());
  }
  EXPECT_EQ(add(3), 2U);
  EXPECT_EQ(add(4), 1U);
  EXPECT_EQ(add(5), 0U);
  EXPECT_EQ(table_.at(0).tags[0].value_uid, 5U);
  EXPECT_EQ(table_.size(), kSeriesMax);
}

TEST(PinnedSeries, TheOlderPinKeepsBoth) {
  Epochs epochs;
  PinnedSeries older(epochs.pin(), {1, 2});
  epochs.advance();
  PinnedSeries younger(epochs.pin(), {3});
  const std::uint64_t epoch = epochs.advance();
  PinnedSeries all;
  all.append(std::move(younger));
  all.append({});
  all.append(std::move(older));
  EXPECT_EQ(std::vector<SeriesId>(all.begin(), all.end()), (std::vector<SeriesId>{3, 1, 2}));
  EXPECT_EQ(all.pin()->epoch, 1U);
  all.erase_if([](SeriesId id) { return id == 1; });
  all.truncate(5);
  EXPECT_EQ(all.size(), 2U);
  all.truncate(1);
  EXPECT_EQ(all.front(), 3U);
  EXPECT_FALSE(epochs.released_before(2));
  all = {};
  EXPECT_TRUE(epochs.released_before(epoch));
}

}  // namespace
}  // namespace halite::storage
