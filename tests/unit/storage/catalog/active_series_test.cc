#include "storage/catalog/index/active_series.h"

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

constexpr ActiveSeries::ShardPeriod kShardDay = {.period = 7, .shard = 3};

IdSet ids(std::initializer_list<SeriesId> members) {
  IdSet set;
  for (const SeriesId id : members) set.add(id);
  return set;
}

TEST(ActiveSeries, KnowsNothingOfAMetricThatWasNotLookedAt) {
  ActiveSeries alive;
  EXPECT_EQ(alive.in(kShardDay, {.uid = 1}), nullptr);
  alive.note(kShardDay, ids({5}));
  EXPECT_EQ(alive.in(kShardDay, {.uid = 1}), nullptr);
  alive.learn(kShardDay, {.uid = 1}, ids({9}));
  ASSERT_NE(alive.in(kShardDay, {.uid = 1}), nullptr);
  EXPECT_TRUE(*alive.in(kShardDay, {.uid = 1}) == ids({5, 9}));
  EXPECT_EQ(alive.in(kShardDay, {.uid = 2}), nullptr);
  EXPECT_EQ(alive.in({.period = 8, .shard = 3}, {.uid = 1}), nullptr);
  EXPECT_EQ(alive.in({.period = 7, .shard = 4}, {.uid = 1}), nullptr);
}

TEST(ActiveSeries, WhoHasASetKeepsIt) {
  ActiveSeries alive;
  alive.learn(kShardDay, {.uid = 1}, {});
  const auto before = alive.in(kShardDay, {.uid = 1});
  alive.note(kShardDay, ids({5}));
  EXPECT_TRUE(before->isEmpty());
  EXPECT_TRUE(*alive.in(kShardDay, {.uid = 1}) == ids({5}));
}

TEST(ActiveSeries, WhatIsForgottenIsNotKnown) {
  ActiveSeries alive;
  alive.learn(kShardDay, {.uid = 1}, ids({5}));
  alive.learn({.period = 6, .shard = 3}, {.uid = 1}, ids({5}));
  alive.forget({.period = 6, .shard = 3});
  EXPECT_EQ(alive.in({.period = 6, .shard = 3}, {.uid = 1}), nullptr);
  EXPECT_NE(alive.in(kShardDay, {.uid = 1}), nullptr);
}

TEST(ActiveSeries, ASetIsNotCompleteAfterAnUnload) {
  ActiveSeries alive;
  alive.learn(kShardDay, {.uid = 1, .unloads = 4}, ids({5}));
  EXPECT_NE(alive.in(kShardDay, {.uid = 1, .unloads = 4}), nullptr);
  EXPECT_EQ(alive.in(kShardDay, {.uid = 1, .unloads = 5}), nullptr);
}

TEST(ActiveSeries, ASlotBoundaryCostsABitASeries) {
  constexpr SeriesId kSeries = 1'000'000;
  ActiveSeries alive;
  IdSet half;
  for (SeriesId id = 0; id < kSeries; id += 2) half.add(id);
  alive.note(kShardDay, half);
  EXPECT_LT(alive.bytes(), kSeries / 7);
  IdSet all;
  all.addRange(0, kSeries);
  alive.note(kShardDay, all);
  EXPECT_LT(alive.bytes(), 1000U);
}

}  // namespace
}  // namespace halite::storage
