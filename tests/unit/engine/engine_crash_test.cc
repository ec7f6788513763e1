// Random work, a power cut at a random change of the disk, and a look at what is left: everything
// acknowledged is there, nothing is there that was never sent. HALITE_SEED runs one seed.
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/engine/engine_store.h"
#include "storage/memory_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

constexpr TimestampMs kNow = 1'700'000'000'000;
constexpr std::int64_t kDay = 86'400'000;
constexpr std::size_t kSeries = 12;
constexpr int kRounds = 6;
constexpr int kStepsMax = 60;

struct Value {
  ValueBits bits = 0;
  bool is_float = false;
  bool operator==(const Value&) const = default;
};
using Maybe = std::optional<Value>;  // nothing = no such point

// What a point may be after a crash: any of `sent` from the acknowledged one on.
struct Fate {
  std::vector<Maybe> sent = {std::nullopt};
  std::size_t acknowledged = 0;
};
using Key = std::pair<std::size_t, TimestampMs>;  // series, time

class CrashTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  CrashTest() : random_(GetParam()), files_(std::make_shared<test::FaultyFiles>(GetParam())) {}

  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  void open() {
    CyclicOptions cyclic;
    cyclic.salt_buckets = 4;
    EngineOptions options;
    options.dir = "/data/engine";
    options.log.segment_bytes = 16 << 20;
    options.log.commit_interval_ms = 0;
    options.log.full_disk_retry_ms = 1;
    options.log.idle_mark_ms = 1;
    options.head_freeze_bytes = below(2) == 0 ? 1 : 256 << 10;
    options.seal_quiet_ms = 0;
    options.maintenance_ms = 1;
    options.read_threads = 1;
    EngineStore::Parts parts{.store = names_,
                             .layout = CyclicLayout::make(cyclic).value(),
                             .clock = clock_,
                             .files = files_,
                             .registry = metrics_};
    auto opened = test::run_task(EngineStore::open(std::move(parts), options));
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
    intern();
  }

  void intern() {
    std::vector<SeriesName> names;
    for (std::size_t i = 0; i < kSeries; ++i) {
      names.push_back({.metric = "m", .tags = {{.key = "host", .value = fmt::format("h{}", i)}}});
    }
    ids_.clear();
    const auto ids = test::run_task(store_->intern(std::move(names), CreateNames()));
    ASSERT_TRUE(ids);
    for (const auto& id : *ids) ids_.push_back(id.value());
  }

  TimestampMs random_time() {
    const TimestampMs base = kNow - static_cast<TimestampMs>(below(3)) * kDay;
    return base + static_cast<TimestampMs>(below(200)) * 1000;
  }

  // False when the power is gone.
  bool append() {
    PointBatch batch;
    std::vector<Key> keys;
    for (std::uint32_t i = 0, count = 1 + below(200); i < count; ++i) {
      const std::size_t series = below(kSeries);
      const TimestampMs time = random_time();
      const Value value = {.bits = random_(), .is_float = below(2) == 0};
      batch.add(ids_[series], time, value.bits, value.is_float ? kFloat : 0);
      keys.emplace_back(series, time);
      fates_[keys.back()].sent.emplace_back(value);
    }
    std::map<Key, std::size_t> newest;
    for (const Key& key : keys) newest[key] = fates_[key].sent.size() - 1;
    const auto accepted = test::run_task(store_->append(std::move(batch)));
    if (!accepted) return false;
    EXPECT_TRUE(accepted->refused.empty());
    if (below(4) == 0) return true;  // nobody waits
    const Result<void> durable = test::run_task(accepted->durable.wait());
    if (!durable) return false;
    for (const auto& [key, index] : newest) fates_[key].acknowledged = index;
    return true;
  }

  bool remove() {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = test::run_task(store_->select(std::move(query)));
    if (!selection) return false;
    const TimestampMs begin = random_time();
    const TimeRange range = {.begin = begin, .end = begin + 20'000};
    std::map<Key, std::size_t> newest;
    for (auto& [key, fate] : fates_) {
      if (key.second < range.begin || key.second >= range.end) continue;
      fate.sent.emplace_back(std::nullopt);
      newest[key] = fate.sent.size() - 1;
    }
    if (!test::run_task(store_->delete_range(*selection, range))) return false;
    for (const auto& [key, index] : newest) fates_[key].acknowledged = index;
    return true;
  }

  bool step() {
    switch (below(12)) {
      case 0:
        return test::run_task(store_->flush()).has_value();
      case 1:
        return test::run_task(store_->seal()).has_value();
      case 2:
        return remove();
      default:
        return append();
    }
  }

  void read_all(std::map<Key, Value>& found) {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = test::run_task(store_->select(std::move(query)));
    ASSERT_TRUE(selection) << selection.error().message;
    for (std::uint32_t shard = 0; shard < store_->shard_count(); ++shard) {
      const auto scan = store_->scan(*selection, {.begin = 0, .end = INT64_MAX}, shard);
      for (;;) {
        const auto blocks = test::run_task(scan->next());
        ASSERT_TRUE(blocks) << blocks.error().message;
        if (blocks->empty()) break;
        for (const Block& block : *blocks) {
          const auto series =
              static_cast<std::size_t>(std::ranges::find(ids_, block.series) - ids_.begin());
          for (std::size_t i = 0; i < block.size(); ++i) {
            const bool fresh =
                found.try_emplace({series, block.times[i]}, Value{block.values[i], block.floats[i]})
                    .second;
            EXPECT_TRUE(fresh) << "twice: " << block.times[i];
          }
        }
      }
    }
  }

  // What is there now is what must stay.
  void check() {
    std::map<Key, Value> found;
    ASSERT_NO_FATAL_FAILURE(read_all(found));
    for (auto& [key, fate] : fates_) {
      const auto stored = found.find(key);
      const Maybe now = stored == found.end() ? Maybe() : Maybe(stored->second);
      const auto allowed = fate.sent.begin() + static_cast<std::ptrdiff_t>(fate.acknowledged);
      EXPECT_NE(std::find(allowed, fate.sent.end(), now), fate.sent.end())
          << "series " << key.first << " at " << key.second
          << (now ? " has another value" : " is lost");
      fate = {.sent = {now}, .acknowledged = 0};
      if (stored != found.end()) found.erase(stored);
    }
    EXPECT_TRUE(found.empty()) << found.size() << " points were never sent";
  }

  void crash() {
    files_->cut_power();
    // It cannot end well; what matters is what the disk has.
    std::ignore = test::run_task(store_->close());
    store_.reset();
    files_->restore_power();
  }

  std::mt19937 random_;
  const std::shared_ptr<test::FaultyFiles> files_;
  const FakeClock clock_{kNow};
  prometheus::Registry metrics_;
  MemoryStore names_{clock_};
  std::unique_ptr<EngineStore> store_;
  std::vector<SeriesId> ids_;
  std::map<Key, Fate> fates_;
};

TEST_P(CrashTest, WhatWasAcknowledgedIsThereAndNothingElse) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(fmt::format("HALITE_SEED={} round {}", GetParam(), round));
    files_->cut_power_after(1 + below(400));
    for (int steps = 0; steps < kStepsMax && step(); ++steps) {
    }
    crash();
    ASSERT_NO_FATAL_FAILURE(open());
    check();
    if (HasFailure()) break;
  }
  ASSERT_TRUE(test::run_task(store_->close()));
}

std::vector<std::uint32_t> seeds() {
  if (const char* seed = std::getenv("HALITE_SEED")) {
    return {static_cast<std::uint32_t>(std::strtoul(seed, nullptr, 10))};
  }
  return {1, 2, 3};
}

INSTANTIATE_TEST_SUITE_P(Seeds, CrashTest, testing::ValuesIn(seeds()));

}  // namespace
}  // namespace halite::storage
