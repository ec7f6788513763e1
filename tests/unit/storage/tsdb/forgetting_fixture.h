// An engine on a clock that stands still, whose series expire three hours after their last point
// and are then forgotten.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"

namespace halite::storage {

class ForgettingTest : public testing::Test {
 protected:
  static constexpr std::int64_t kHour = 3'600'000;
  static constexpr TimestampMs kStart = 1'700'000'000'000 / kHour * kHour;
  static constexpr std::int64_t kTtl = 3 * kHour;
  void SetUp() override {
    world_.layout.salt_buckets = 2;
    world_.layout.span_ms = kHour;
    world_.layout.slots = 8;
    world_.layout.ttl_ms = kTtl;
    world_.layout.future_max_ms = kHour / 2;
    world_.layout.cleaning_ms = kHour;
    world_.options.log.segment_bytes = 16 << 20;
    world_.options.log.segment_bytes_min = 64 << 10;
    world_.options.log.commit_interval_ms = 0;
    world_.options.expiry_interval_ms = 1000;
    world_.options.expire_after_clock_jump = true;
    world_.options.maintenance_ms = kHour;  // only when asked
    world_.options.list_active_min = 2;
    open();
  }
  void TearDown() override { EXPECT_TRUE(world_.close()); }

  void open() {
    const Result<void> opened = world_.open();
    ASSERT_TRUE(opened) << opened.error().message;
    if (allowed_) world_.points->enable_series_gc(rules_);
  }
  void reopen() {
    ASSERT_TRUE(world_.close());
    open();
  }

  // Of a series that has one point, which came at kStart.
  void delete_points_of(const std::string& host) {
    SeriesQuery query;
    query.metric = "m";
    query.filters.push_back({FilterType::kLiteralOr, "host", host});
    const auto selection = test::run_task(world_.points->select(std::move(query), {})).value();
    ASSERT_EQ(
        test::run_task(world_.points->delete_range(selection, {.begin = 0, .end = INT64_MAX})), 1U);
    sent_.erase({host, kStart});
  }

  void put(const std::vector<std::string>& hosts, TimestampMs time) {
    const auto pin = world_.points->pin_series();
    const auto ids = world_.intern(hosts);
    ASSERT_TRUE(ids) << ids.error().message;
    PointBatch batch;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const std::uint64_t bits = next_value_++;
      batch.add((*ids)[i], time, bits, 0);
      sent_[{hosts[i], time}] = {.bits = bits, .is_float = false};
    }
    const auto accepted = test::run_task(world_.points->append(std::move(batch)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(accepted->refused.empty());
    ASSERT_TRUE(test::run_task(accepted->durable.wait()));
  }
  void put(const std::vector<std::string>& hosts) { put(hosts, world_.clock.now_ms()); }

  void expect_what_was_sent() {
    const TimestampMs oldest = world_.clock.now_ms() - kTtl;
    std::erase_if(sent_, [oldest](const auto& entry) { return entry.first.second < oldest; });
    const auto read = world_.read();
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, sent_);
  }

  void settle() { ASSERT_TRUE(test::run_task(world_.points->seal())); }

  [[nodiscard]] const SeriesTable& table() const { return world_.points->registry().table(); }

  // As lookups find them.
  std::set<std::string> hosts() {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = test::run_task(world_.points->select(std::move(query), {}));
    std::set<std::string> found;
    if (!selection) return found;
    for (const SeriesId id : test::run_task(world_.points->lookup(*selection, 0)).value()) {
      found.emplace(world_.points->series(id).tags[0].value);
    }
    return found;
  }

  // A part a series; `meanwhile` comes before each.
  class Told final : public SeriesIterator {
   public:
    explicit Told(std::vector<Bytes> tsuids, std::function<void()> meanwhile = {})
        : tsuids_(std::move(tsuids)), meanwhile_(std::move(meanwhile)) {}
    Task<std::optional<std::vector<Bytes>>> next() override {
      if (meanwhile_) meanwhile_();
      if (tsuids_.empty()) co_return std::nullopt;
      std::vector<Bytes> part = {std::move(tsuids_.back())};
      tsuids_.pop_back();
      co_return std::move(part);
    }

   private:
    std::vector<Bytes> tsuids_;
    const std::function<void()> meanwhile_;
  };

  std::unique_ptr<SeriesIterator> keep_a(std::vector<Bytes> tsuids) {
    std::erase_if(tsuids, [this](const Bytes& tsuid) {
      return table().at(*table().find(tsuid)).tags[0].value != "a";
    });
    return std::make_unique<Told>(std::move(tsuids));
  }

  static std::vector<std::string> generation_of(int number, int count = 20) {
    std::vector<std::string> hosts = {"stays"};
    for (int i = 0; i < count; ++i) hosts.push_back(fmt::format("g{}-{}", number, i));
    return hosts;
  }

  test::EngineWorld world_{1, kStart};
  test::WorldPoints sent_;
  std::uint64_t next_value_ = 1;
  bool allowed_ = true;
  GcRules rules_;
};

}  // namespace halite::storage
