#include "storage/backends/hbase/regions/region_plan.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "storage/backends/hbase/regions/region_compactor.h"

namespace halite::storage {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;

std::unique_ptr<CyclicLayout> ring(std::uint32_t salts, std::uint32_t slots, std::int64_t ttl_ms) {
  CyclicOptions options;
  options.salt_buckets = salts;
  options.slots = slots;
  options.span_ms = kMinuteMs;
  options.ttl_ms = ttl_ms;
  options.future_max_ms = 0;
  options.cleaning_ms = 0;
  return CyclicLayout::make(options).value();
}

TEST(RegionPlanTest, RegionsStayWithinWhatServersMayHave) {
  const auto layout = ring(16, 1024, 30 * kMinuteMs);
  for (const std::uint32_t servers : {1u, 2u, 3u, 7u, 100u}) {
    const auto plan = plan_regions(*layout, {.servers = servers, .regions_max = 50}, {});
    ASSERT_TRUE(plan);
    EXPECT_LE(plan->regions, servers * 50);
    EXPECT_EQ(plan->split_keys.size() + 1, plan->regions);
    EXPECT_TRUE(std::ranges::is_sorted(plan->split_keys));
    EXPECT_EQ(std::ranges::adjacent_find(plan->split_keys), plan->split_keys.end());
    EXPECT_EQ(plan->active, 16u);
    EXPECT_TRUE(plan->fixed);
  }
  const auto plan = plan_regions(*layout, {.servers = 1, .regions_max = 50}, {});
  EXPECT_EQ(plan->regions, 48u);
  EXPECT_EQ(plan->slots_per_region, 342u);
  EXPECT_EQ(to_hex(plan->split_keys[0]), "0000000156");
  EXPECT_EQ(to_hex(plan->split_keys[2]), "0100000000");
}

TEST(RegionPlanTest, FewSlotsAreARegionEach) {
  const auto layout = ring(2, 8, kMinuteMs);
  const auto plan = plan_regions(*layout, {.servers = 5, .regions_max = 50}, {});
  EXPECT_EQ(plan->regions, 16u);
  EXPECT_EQ(plan->slots_per_region, 1u);
}

TEST(RegionPlanTest, MoreSaltsThanRegionsAreRefused) {
  const auto layout = ring(16, 1024, 30 * kMinuteMs);
  const auto plan = plan_regions(*layout, {.servers = 3, .regions_max = 5}, {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(plan_regions(*layout, {.servers = 4, .regions_max = 4}, {}));
}

TEST(RegionPlanTest, RowsThatAreNoRingAreCutAtTheirSalts) {
  const auto layout = ring(4, 1024, 0);
  const auto plan = plan_regions(*layout, {.servers = 1, .regions_max = 50}, {}).value();
  EXPECT_FALSE(plan.fixed);
  ASSERT_EQ(plan.split_keys.size(), 3u);
  EXPECT_EQ(to_hex(plan.split_keys[0]), "01");
  EXPECT_EQ(plan_salted_regions(20, 1, {.servers = 1, .regions_max = 10}).regions, 10u);
  EXPECT_EQ(plan_salted_regions(20, 0, {.servers = 1, .regions_max = 10}).regions, 1u);
  const RegionPlan wide = plan_salted_regions(1000, 2, {.servers = 1, .regions_max = 10});
  ASSERT_EQ(wide.regions, 10u);
  EXPECT_EQ(to_hex(wide.split_keys[8]), "0384");
}

TEST(RegionPlanTest, ARegionIsDeadBetweenItsLaps) {
  const auto layout = ring(2, 12, 2 * kMinuteMs);
  const CellLifetime life{.late_max_ms = kMinuteMs, .ttl_ms = 2 * kMinuteMs};
  const auto plan = plan_regions(*layout, {.servers = 1, .regions_max = 8}, life).value();
  ASSERT_EQ(plan.slots_per_region, 3u);
  EXPECT_EQ(plan.dead_ms, (12 - 3 - 3) * kMinuteMs);
  // Slots 3 to 5 of salt 1: used from minute 3 of each lap, dead 3 minutes after the end of 5.
  const KeyRange region{plan.split_keys[4], plan.split_keys[5]};
  ASSERT_EQ(to_hex(region.begin), "0100000003");
  for (int lap = 0; lap < 3; ++lap) {
    const std::int64_t begin = lap * 12 * kMinuteMs;
    const std::int64_t dead = begin + 9 * kMinuteMs;
    EXPECT_FALSE(dead_since(*layout, region, life, begin + 3 * kMinuteMs));
    EXPECT_FALSE(dead_since(*layout, region, life, dead - 1));
    EXPECT_EQ(dead_since(*layout, region, life, dead), dead);
    EXPECT_EQ(dead_since(*layout, region, life, begin + 15 * kMinuteMs - 1), dead);
  }
}

TEST(RegionPlanTest, FirstAndLastRegionsHaveOpenEnds) {
  const auto layout = ring(2, 12, 2 * kMinuteMs);
  const CellLifetime life{.late_max_ms = 0, .ttl_ms = 2 * kMinuteMs};
  const KeyRange first{{}, from_hex("0000000003").value()};
  EXPECT_EQ(dead_since(*layout, first, life, 6 * kMinuteMs), 5 * kMinuteMs);
  const KeyRange last{from_hex("0100000009").value(), {}};
  EXPECT_EQ(dead_since(*layout, last, life, 5 * kMinuteMs), 0);  // not yet used
  EXPECT_FALSE(dead_since(*layout, last, life, 13 * kMinuteMs));
  EXPECT_EQ(dead_since(*layout, last, life, 14 * kMinuteMs), 14 * kMinuteMs);
  const KeyRange salt_end{from_hex("0000000009").value(), from_hex("0100000000").value()};
  EXPECT_EQ(dead_since(*layout, salt_end, life, 14 * kMinuteMs), 14 * kMinuteMs);
}

TEST(RegionPlanTest, OtherRegionsAreLeftAlone) {
  const auto layout = ring(2, 12, 2 * kMinuteMs);
  const TimestampMs now = 14 * kMinuteMs;
  EXPECT_FALSE(dead_since(*layout, {{}, {}}, {}, now));  // the whole table
  EXPECT_FALSE(dead_since(*layout, {{}, from_hex("0100000003").value()}, {}, now));
  EXPECT_FALSE(dead_since(*layout, {{}, from_hex("000000000300").value()}, {}, now));
  EXPECT_FALSE(dead_since(*layout, {from_hex("0000000003").value(), from_hex("00000000FF").value()},
                          {}, now));
}

TEST(RegionCareTest, QuietHoursMayRunOverMidnight) {
  const auto quiet = [](std::uint32_t begin, std::uint32_t end) {
    std::vector<int> hours;
    for (int hour = 0; hour < 24; ++hour) {
      const TimestampMs now = kDayMs * 20'000 + hour * 60 * kMinuteMs + 59 * kMinuteMs;
      if (is_quiet(now, {.hour_begin = begin, .hour_end = end})) hours.push_back(hour);
    }
    return hours;
  };
  EXPECT_EQ(quiet(1, 5), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(quiet(22, 2), (std::vector<int>{0, 1, 22, 23}));
  EXPECT_EQ(quiet(7, 7).size(), 24u);
}

}  // namespace
}  // namespace halite::storage
