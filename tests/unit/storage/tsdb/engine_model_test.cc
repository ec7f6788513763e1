// Random work on an engine against a plain map: points that are late, repeated, of both kinds;
// deletes, flushes, seals; a clock that runs several times round the ring; power cuts at any change
// of the disk, also while it recovers; syncs that fail, a disk that is full. Everything
// acknowledged is there, nothing is there that was never sent or that expired. Series leave memory
// and come back.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/model_seeds.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::WorldKey;
using test::WorldPoints;
using test::WorldValue;

constexpr std::uint32_t kSeries = 25;
constexpr int kStepsDefault = test::kSanitized ? 150 : 300;

using Maybe = std::optional<WorldValue>;  // nothing = no such point

// What a point may be: any of `sent` from the acknowledged one on.
struct Fate {
  std::vector<Maybe> sent = {std::nullopt};
  std::size_t acknowledged = 0;
};

class ModelTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  ModelTest() : random_(GetParam()), world_(GetParam(), kFullHour) {
    world_.layout.salt_buckets = 3;
    if (below(3) > 0) {  // else for ever
      world_.layout.span_ms = kHourMs;
      world_.layout.slots = 9;
      world_.layout.ttl_ms = 4 * kHourMs;
      world_.layout.cleaning_ms = kHourMs;
    }
    world_.layout.future_max_ms = kHourMs / 2;
    EngineOptions& options = world_.options;
    options.log.segment_bytes = 16 << 20;
    options.log.segment_bytes_min = 64 << 10;
    options.log.commit_interval_ms = 0;
    options.log.full_disk_retry_ms = 1;
    options.log.idle_mark_ms = 1;
    options.expiry_interval_ms = kHourMs / 4;
    options.expire_after_clock_jump = true;
    options.read_threads = 1;
  }

  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  // The oldest time that answers.
  [[nodiscard]] TimestampMs oldest() const {
    const std::int64_t ttl = world_.layout.ttl_ms;
    return ttl == 0 ? 0 : world_.clock.now_ms() - ttl;
  }

  TimestampMs random_time() {
    const TimestampMs now = world_.clock.now_ms();
    const TimestampMs begin = std::max(oldest(), now - 5 * kHourMs);
    switch (below(3)) {
      case 0:  // a few that come again and again
        return now / kHourMs * kHourMs - static_cast<TimestampMs>(below(3)) * kHourMs +
               below(30) * 1000;
      case 1:
        return now - below(1000);
      default:
        return begin + static_cast<TimestampMs>(
                           below(static_cast<std::uint32_t>(now + kHourMs / 2 - begin)));
    }
  }

  // ---- steps: false when something was in the way -----------------------------------------------

  bool append() {
    std::vector<std::string> hosts;
    for (std::uint32_t i = 0, count = 1 + below(6); i < count; ++i) {
      hosts.push_back(fmt::format("h{}", below(kSeries)));
    }
    const auto hold = world_.points->pin_series();
    const auto ids = world_.intern(hosts);
    if (!ids) return false;
    PointBatch batch;
    std::vector<std::pair<WorldKey, WorldValue>> points;
    for (std::uint32_t i = 0, count = 1 + below(below(8) == 0 ? 500 : 30); i < count; ++i) {
      const std::size_t series = below(static_cast<std::uint32_t>(hosts.size()));
      const TimestampMs time = random_time();
      const std::uint64_t bits = std::uint64_t{random_()} << 32 | random_();
      const WorldValue value = {.bits = bits >> below(60), .is_float = below(2) == 0};
      batch.add((*ids)[series], time, value.bits, value.is_float ? kFloat : 0);
      points.push_back({{hosts[series], time}, value});
    }
    const auto accepted = run_task(world_.points->append(std::move(batch)));
    if (!accepted) return false;  // then no point of it is ever found
    std::map<WorldKey, std::size_t> newest;
    for (const auto& [key, value] : points) {
      std::vector<Maybe>& sent = fates_[key].sent;
      sent.emplace_back(value);
      newest[key] = sent.size() - 1;
    }
    EXPECT_TRUE(accepted->refused.empty()) << accepted->refused.front().error.message;
    if (below(4) == 0) return true;  // nobody waits
    if (!run_task(accepted->durable.wait())) return false;
    for (const auto& [key, index] : newest) fates_[key].acknowledged = index;
    return true;
  }

  bool remove() {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(world_.points->select(std::move(query), {}));
    if (!selection) return selection.error().code == Errc::kNotFound;
    const TimestampMs begin = random_time();
    const TimeRange range = {.begin = begin, .end = begin + 1 + below(600'000)};
    std::map<WorldKey, std::size_t> newest;
    for (auto& [key, fate] : fates_) {
      if (key.second < range.begin || key.second >= range.end) continue;
      fate.sent.emplace_back(std::nullopt);
      newest[key] = fate.sent.size() - 1;
    }
    if (!run_task(world_.points->delete_range(*selection, range))) return false;
    for (const auto& [key, index] : newest) fates_[key].acknowledged = index;
    return true;
  }

  bool step() {
    switch (below(20)) {
      case 0:
      case 1:
        return run_task(world_.points->flush()).has_value();
      case 2:
        return run_task(world_.points->seal()).has_value();
      case 3:
        return remove();
      case 4:
        world_.clock.advance(1 + below(below(4) == 0 ? 2 * kHourMs : kHourMs / 8));
        return true;
      case 5:
      case 6:
        check();
        return true;
      default:
        return append();
    }
  }

  // ---- looking ----------------------------------------------------------------------------------

  void forget_expired() {
    std::erase_if(fates_, [this](const auto& entry) { return entry.first.second < oldest(); });
  }

  // While all goes well there is exactly what was sent last.
  void check() {
    if (!exact_) return;
    const TimestampMs since = below(2) == 0 ? 0 : random_time();
    const auto read = world_.read(since);
    ASSERT_TRUE(read) << read.error().message;
    forget_expired();
    WorldPoints expected;
    for (const auto& [key, fate] : fates_) {
      if (key.second >= since && fate.sent.back()) expected.emplace(key, *fate.sent.back());
    }
    compare(*read, expected);
  }

  static void compare(const WorldPoints& found, const WorldPoints& expected) {
    if (found == expected) return;
    for (const auto& [key, value] : expected) {
      const auto there = found.find(key);
      EXPECT_FALSE(there == found.end()) << key.first << " at " << key.second << " is missing";
      if (there == found.end()) continue;
      EXPECT_TRUE(there->second == value) << key.first << " at " << key.second << " is another";
    }
    for (const auto& [key, value] : found) {
      EXPECT_TRUE(expected.contains(key)) << key.first << " at " << key.second << " is too much";
    }
  }

  // After a start: what is there now is what must stay.
  void check_and_keep() {
    auto read = world_.read();
    ASSERT_TRUE(read) << read.error().message;
    forget_expired();
    for (auto& [key, fate] : fates_) {
      const auto stored = read->find(key);
      const Maybe now = stored == read->end() ? Maybe() : Maybe(stored->second);
      const auto allowed = fate.sent.begin() + static_cast<std::ptrdiff_t>(fate.acknowledged);
      EXPECT_NE(std::find(allowed, fate.sent.end(), now), fate.sent.end())
          << key.first << " at " << key.second << (now ? " has another value" : " is lost");
      fate = {.sent = {now}, .acknowledged = 0};
      if (stored != read->end()) read->erase(stored);
    }
    EXPECT_TRUE(read->empty()) << read->size() << " points were never sent, the first at "
                               << read->begin()->first.second;
    exact_ = true;
  }

  // ---- trouble ----------------------------------------------------------------------------------

  void open() {
    world_.options.head_freeze_bytes = below(2) == 0 ? 1 : 256 << 10;
    world_.options.seal_quiet_ms = below(2) == 0 ? 0 : kHourMs;
    world_.options.maintenance_ms = below(3) == 0 ? 3'600'000 : 1;
    world_.options.seal_directly_bytes = below(2) == 0 ? 1 : 64 << 10;
    world_.options.seal_long_points = below(2) == 0 ? 2 : 1 << 13;
    world_.options.seal_late_interval_ms = below(2) == 0 ? 0 : kHourMs;
    world_.options.seal_late_percent = below(2) == 0 ? 0 : 300;
    world_.options.series_idle_ms = below(3) == 0 ? 0 : below(2) == 0 ? 1 : kHourMs / 4;
    world_.options.load_all_max = below(2) == 0 ? 0 : 10;
    world_.options.chunks.late_files_max = below(2) == 0 ? 2 : 16;
    const Result<void> opened = world_.open();
    ASSERT_TRUE(opened) << opened.error().message;
    if (below(4) > 0) world_.points->enable_series_gc({});
  }

  // With power cuts while it starts.
  void reopen() {
    while (below(3) == 0) {
      world_.files->cut_power_after(below(150));
      world_.options.head_freeze_bytes = below(2) == 0 ? 1 : 256 << 10;
      std::ignore = world_.open();
      world_.crash();
    }
    ASSERT_NO_FATAL_FAILURE(open());
    check_and_keep();
  }

  // Steps until one fails, with what begin_trouble() did to the disk.
  void work_in_trouble() {
    exact_ = false;
    const Error error{Errc::kUnavailable, "input/output error", {}};
    bool power = true;
    switch (below(6)) {
      case 0:
        world_.files->fail_sync_number(1 + below(30));
        break;
      case 1:
        world_.files->fail_writes(below(2) == 0 ? ".log" : ".sst", error);
        break;
      case 2:
        world_.files->set_capacity(world_.files->used_bytes() + below(300'000));
        break;
      case 3:
        world_.files->cut_power_after(below(300), below(2) == 0 ? "chunks" : "engine/log");
        power = false;
        break;
      default:
        world_.files->cut_power_after(below(300));
        power = false;
        break;
    }
    for (int steps = 0; steps < 40 && step(); ++steps) ++steps_;
    world_.files->heal();
    if (power && below(2) == 0) {
      std::ignore = world_.close();  // a process that ends in order, as far as it can
    } else {
      world_.crash();
    }
    reopen();
  }

  void run(int steps) {
    ASSERT_NO_FATAL_FAILURE(open());
    exact_ = true;
    while (steps_ < steps && !HasFailure()) {
      SCOPED_TRACE(fmt::format("HALITE_SEED={} step {}", GetParam(), steps_));
      if (below(40) == 0) {
        work_in_trouble();
      } else if (below(60) == 0) {
        EXPECT_TRUE(world_.close());
        reopen();
      } else {
        ASSERT_TRUE(step()) << "nothing was in the way";
      }
      ++steps_;
    }
    if (HasFailure()) return;
    check();
    ASSERT_TRUE(world_.close());
  }

  std::mt19937 random_;
  test::EngineWorld world_;
  std::map<WorldKey, Fate> fates_;
  bool exact_ = false;
  int steps_ = 0;
};

TEST_P(ModelTest, HasWhatAPlainMapHas) {
  ASSERT_NO_FATAL_FAILURE(run(test::model_steps(kStepsDefault)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, testing::ValuesIn(test::model_seeds()));

}  // namespace
}  // namespace halite::storage
