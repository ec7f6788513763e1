#include "storage/catalog/series_quota.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "tests/unit/storage/cells/cell_point_store_fixture.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kHourMs = 3'600'000;

TEST(NewSeriesQuota, AnHourIsOneOfTheClock) {
  FakeClock clock(kHourBegin + kHourMs - 1500);
  prometheus::Registry metrics;
  NewSeriesQuota quota({.per_hour = 2}, clock, metrics);
  NewSeriesQuota::Share share(quota);
  EXPECT_TRUE(share.take(0));
  EXPECT_TRUE(share.take(1000));
  EXPECT_FALSE(quota.check(0));
  const Result<void> more = share.take(0);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::kTooLarge);
  EXPECT_THAT(more.error().message, HasSubstr("the limit is 2 per hour"));
  EXPECT_THAT(more.error().message, HasSubstr("in 2 s"));
  EXPECT_THAT(more.error().message, HasSubstr("storage.new_series_per_hour_max"));
  clock.set(kHourBegin + kHourMs);
  EXPECT_TRUE(share.take(0));
  EXPECT_TRUE(share.take(0));
  EXPECT_FALSE(share.take(0));
  clock.set(kHourBegin);  // set back: it is not an hour without new series
  EXPECT_TRUE(share.take(0));
}

TEST(NewSeriesQuota, NoLimitsAskNothing) {
  const FakeClock clock(kHourBegin);
  prometheus::Registry metrics;
  NewSeriesQuota quota({}, clock, metrics);
  NewSeriesQuota::Share share(quota);
  EXPECT_FALSE(quota.limited());
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(share.take(1ULL << 40));
}

TEST(NewSeriesQuota, WhatIsNotKeptGoesBack) {
  FakeClock clock(kHourBegin);
  prometheus::Registry metrics;
  NewSeriesQuota quota({.per_hour = 3}, clock, metrics);
  {
    NewSeriesQuota::Share kept(quota);
    EXPECT_TRUE(kept.take(0));
    kept.keep();
    NewSeriesQuota::Share failed(quota);
    EXPECT_TRUE(failed.take(0));
    EXPECT_TRUE(failed.take(0));
    EXPECT_FALSE(failed.take(0));
  }
  NewSeriesQuota::Share next(quota);
  EXPECT_TRUE(next.take(0));
  EXPECT_TRUE(next.take(0));
  EXPECT_FALSE(quota.check(0));
  // What was taken in an hour that is over goes back to none.
  clock.advance(kHourMs);
  {
    NewSeriesQuota::Share now(quota);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(now.take(0));
    now.keep();
  }
  {
    const NewSeriesQuota::Share before = std::move(next);
  }
  EXPECT_FALSE(quota.check(0));
}

std::vector<std::string> told(const NewSeriesQuota& quota, std::size_t max) {
  std::vector<std::string> texts;
  for (const OverQuotaMetric& one : quota.over_quota(max)) {
    texts.push_back(fmt::format("{} {}", one.metric, one.refused));
  }
  return texts;
}

TEST(NewSeriesQuota, TheWorstOfThisHourAndTheOneBefore) {
  FakeClock clock(kHourBegin);
  prometheus::Registry metrics;
  NewSeriesQuota quota({.per_hour = 1}, clock, metrics);
  const auto refuse = [&quota](std::string_view metric, int times) {
    for (int i = 0; i < times; ++i) quota.count_refused(metric);
  };
  refuse("a", 3);
  refuse("b", 5);
  refuse("c", 3);
  EXPECT_THAT(told(quota, 10), ElementsAre("b 5", "a 3", "c 3"));
  EXPECT_THAT(told(quota, 1), ElementsAre("b 5"));
  clock.set(kHourBegin + kHourMs);
  refuse("c", 4);
  EXPECT_THAT(told(quota, 10), ElementsAre("c 7", "b 5", "a 3"));
  clock.set(kHourBegin + 2 * kHourMs);
  EXPECT_THAT(told(quota, 10), ElementsAre("c 4"));
  clock.set(kHourBegin + 4 * kHourMs);
  EXPECT_THAT(told(quota, 10), ElementsAre());
}

TEST(NewSeriesQuota, MetricsWithoutEndTakeNoMemory) {
  const FakeClock clock(kHourBegin);
  prometheus::Registry metrics;
  NewSeriesQuota quota({.per_hour = 1}, clock, metrics);
  for (int i = 0; i < 100'000; ++i) {
    quota.count_refused(fmt::format("once {}", i));
    if (i % 10 == 0) quota.count_refused("often");
  }
  const std::vector<OverQuotaMetric> all = quota.over_quota(1'000'000);
  EXPECT_LE(all.size(), 1000u);
  EXPECT_EQ(all.front().metric, "often");
}

class NewSeriesTest : public CellPointStoreTest {
 protected:
  static CellPointStoreOptions limited(NewSeriesLimits limits) {
    CellPointStoreOptions options;
    options.new_series = limits;
    return options;
  }
  InternedSeries intern_all(std::vector<SeriesName> names) {
    return run_task(points_->intern(std::move(names), CreateNames())).value();
  }
  bool knows_value(const std::string& name) {
    const auto names = run_task(points_->suggest(NameKind::kTagValue, name, 10)).value();
    return std::ranges::count(names, name) != 0;
  }
};

TEST_F(NewSeriesTest, OfOneMetricAtTheMaximumAndOneOver) {
  open(limited({.per_metric = 2}));
  const auto ids =
      intern_all({host("a"), host("b"), host("a"), host("c"), {"other", {{"k", "v"}}}});
  EXPECT_TRUE(ids[0] && ids[1] && ids[2] && ids[4]);
  ASSERT_FALSE(ids[3]);
  EXPECT_EQ(ids[3].error().code, Errc::kTooLarge);
  EXPECT_THAT(ids[3].error().message, HasSubstr("storage.series_per_metric_max"));
  const auto more = intern_all({host("b"), host("d"), {"other", {{"k", "w"}}}});
  EXPECT_TRUE(more[0] && more[2]);
  EXPECT_FALSE(more[1]);
  EXPECT_FALSE(knows_value("d")) << "what is refused leaves no name behind";
  ASSERT_EQ(points_->over_quota(10).size(), 1u);
  EXPECT_EQ(points_->over_quota(10)[0].metric, "m");
  EXPECT_EQ(points_->over_quota(10)[0].refused, 2u);
}

TEST_F(NewSeriesTest, OneThatAnotherBatchMadeMayUseItsNames) {
  open(limited({.per_metric = 1}));
  const auto ids = intern_all({host("a"), {"other", {{"host", "b"}}}, host("b")});
  EXPECT_TRUE(ids[0] && ids[1]);
  EXPECT_FALSE(ids[2]);
}

TEST_F(NewSeriesTest, WhatHasARowIsNotNew) {
  open();
  intern("a");
  intern("b");
  ASSERT_TRUE(run_task(points_->close()));
  open(limited({.per_hour = 1, .per_metric = 1}));
  EXPECT_TRUE(intern_all({host("a")})[0]) << "not seen since the start";
  const auto ids = intern_all({host("b"), host("c")});
  EXPECT_TRUE(ids[0]);
  EXPECT_FALSE(ids[1]);
  EXPECT_TRUE(intern_all({{"other", {{"host", "a"}}}})[0]) << "the hour's one";
  const auto late = intern_all({{"third", {{"host", "z"}}}});
  ASSERT_FALSE(late[0]);
  EXPECT_THAT(late[0].error().message, HasSubstr("storage.new_series_per_hour_max"));
  EXPECT_FALSE(knows_value("z"));
}

TEST_F(NewSeriesTest, WhatTheStoreDidNotTakeIsNotCounted) {
  CellPointStoreOptions options = limited({.per_hour = 1});
  options.data_table = "points";
  options.series_table = "tsdb";  // the unruly one
  open(std::move(options));
  unruly_.fail = true;
  EXPECT_FALSE(run_task(points_->intern({host("a")}, CreateNames())));
  unruly_.fail = false;
  EXPECT_TRUE(intern_all({host("a")})[0]);
  EXPECT_FALSE(intern_all({host("b")})[0]);
}

TEST_F(NewSeriesTest, NamesThatMayNotBeMadeAreToldFirst) {
  open(limited({.per_hour = 1}));
  intern("a");
  CreateNames create;
  create.tag_values = false;
  const auto ids = run_task(points_->intern({host("b")}, create)).value();
  ASSERT_FALSE(ids[0]);
  EXPECT_EQ(ids[0].error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace halite::storage
