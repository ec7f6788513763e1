#include "storage/catalog/index/active_series.h"

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

constexpr ActiveSeries::ShardPeriod kDay = {.period = 7, .shard = 3};

IdSet ids(std::initializer_list<SeriesId> members) {
  IdSet set;
  for (const SeriesId id : members) set.add(id);
  return set;
}

TEST(ActiveSeries, KnowsNothingOfAMetricThatWasNotLookedAt) {
  ActiveSeries alive;
  EXPECT_EQ(alive.in(kDay, 1), nullptr);
  alive.note(kDay, ids({5}));
  EXPECT_EQ(alive.in(kDay, 1), nullptr);
  alive.learn(kDay, 1, ids({9}));
  ASSERT_NE(alive.in(kDay, 1), nullptr);
  EXPECT_TRUE(*alive.in(kDay, 1) == ids({5, 9}));
  EXPECT_EQ(alive.in(kDay, 2), nullptr);
  EXPECT_EQ(alive.in({.period = 8, .shard = 3}, 1), nullptr);
  EXPECT_EQ(alive.in({.period = 7, .shard = 4}, 1), nullptr);
}

TEST(ActiveSeries, WhoHasASetKeepsIt) {
  ActiveSeries alive;
  alive.learn(kDay, 1, {});
  const auto before = alive.in(kDay, 1);
  alive.note(kDay, ids({5}));
  EXPECT_TRUE(before->isEmpty());
  EXPECT_TRUE(*alive.in(kDay, 1) == ids({5}));
}

TEST(ActiveSeries, WhatIsForgottenIsNotKnown) {
  ActiveSeries alive;
  alive.learn(kDay, 1, ids({5}));
  alive.learn({.period = 6, .shard = 3}, 1, ids({5}));
  alive.forget({.period = 6, .shard = 3});
  EXPECT_EQ(alive.in({.period = 6, .shard = 3}, 1), nullptr);
  EXPECT_NE(alive.in(kDay, 1), nullptr);
}

TEST(ActiveSeries, ASlotBoundaryCostsABitASeries) {
  constexpr SeriesId kSeries = 1'000'000;
  ActiveSeries alive;
  IdSet half;
  for (SeriesId id = 0; id < kSeries; id += 2) half.add(id);
  alive.note(kDay, half);
  EXPECT_LT(alive.bytes(), kSeries / 7);
  IdSet all;
  all.addRange(0, kSeries);
  alive.note(kDay, all);
  EXPECT_LT(alive.bytes(), 1000U);
}

}  // namespace
}  // namespace halite::storage
