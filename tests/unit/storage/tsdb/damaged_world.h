// A store with files of chunks that a test may damage, and what it should answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {

inline constexpr int kHosts = 24;
inline constexpr const char* kChunks = "/data/engine/chunks";

inline std::vector<std::string> hosts() {
  std::vector<std::string> names;
  for (int i = 0; i < kHosts; ++i) names.push_back(fmt::format("h{:02}", i));
  return names;
}

// Four slots with two flushes each; the first two are sealed, and late points came for one of them.
// Then some points that are only in the log.
class Damaged {
 public:
  // With a TTL the slots are a ring, and series without points are forgotten.
  explicit Damaged(std::int64_t ttl_ms = 0) : Damaged(Empty(), ttl_ms) {
    static std::map<std::int64_t, std::unique_ptr<Damaged>> filled;  // once, as it takes long
    std::unique_ptr<Damaged>& original = filled[ttl_ms];
    if (!original) {
      original.reset(new Damaged(Empty(), ttl_ms));
      original->fill();
    }
    world.files->begin_as(*original->world.files);
    world.clock.set(original->world.clock.now_ms());
    expected = original->expected;
    random_ = original->random_;
  }

  void put(TimestampMs from, int count) {
    const std::vector<std::string> names = hosts();
    const auto ids = world.intern(names).value();
    PointBatch points;
    for (int i = 0; i < count; ++i) {
      for (std::size_t host = 0; host < ids.size(); ++host) {
        const auto bits = static_cast<ValueBits>(random_());
        const TimestampMs time = from + i * 10'000;
        points.add(ids[host], time, bits, 0);
        expected[{names[host], time}] = {.bits = bits, .is_float = false};
      }
    }
    const auto accepted = test::run_task(world.points->append(std::move(points)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(accepted->refused.empty());
    ASSERT_TRUE(test::run_task(accepted->durable.wait()));
  }

  std::vector<std::string> tables() {
    std::vector<std::string> paths;
    for (const std::string& name : world.files->list(kChunks).value()) {
      if (name.ends_with(".sst")) paths.push_back(fmt::format("{}/{}", kChunks, name));
    }
    return paths;
  }

  // How many hosts are answered, each rightly; the others fail as damaged.
  int answered(TimeRange range = {.begin = 0, .end = INT64_MAX}) {
    int answered = 0;
    for (const std::string& host : hosts()) {
      const Result<test::WorldPoints> found = read(host, range);
      if (!found) {
        EXPECT_EQ(found.error().code, Errc::kCorruption) << found.error().message;
        EXPECT_THAT(found.error().message, testing::HasSubstr(host));
        continue;
      }
      ++answered;
      std::string wrong;
      const auto begin = expected.lower_bound({host, range.begin});
      const auto end = expected.lower_bound({host, range.end});
      for (auto wanted = begin; wanted != end; ++wanted) {
        const auto& [key, value] = *wanted;
        const auto there = found->find(key);
        if (there == found->end()) wrong += fmt::format(" {} is lost", key.second);
        if (there != found->end() && there->second != value)
          wrong += fmt::format(" {}", key.second);
      }
      EXPECT_EQ(wrong.substr(0, 200), "") << host;
      EXPECT_EQ(static_cast<std::ptrdiff_t>(found->size()), std::distance(begin, end)) << host;
    }
    return answered;
  }

  Result<test::WorldPoints> read(const std::string& host, TimeRange range) {
    SeriesQuery query;
    query.metric = "m";
    query.filters = {{.type = FilterType::kLiteralOr, .key = "host", .pattern = host}};
    const auto selection = test::run_task(world.points->select(std::move(query), {}));
    if (!selection) return std::unexpected(selection.error());
    test::WorldPoints found;
    for (std::uint32_t shard = 0; shard < world.points->shard_count(); ++shard) {
      const auto scan = world.points->scan(*selection, range, shard);
      while (true) {
        TRY(const std::vector<Block> blocks, test::run_task(scan->next()));
        if (blocks.empty()) break;
        for (const Block& block : blocks) {
          for (std::size_t i = 0; i < block.size(); ++i) {
            found[{host, block.times[i]}] = {.bits = block.values[i], .is_float = block.floats[i]};
          }
        }
      }
    }
    return found;
  }

  test::EngineWorld world{1, kFullHour};
  test::WorldPoints expected;

 private:
  struct Empty {};

  Damaged(Empty, std::int64_t ttl_ms) {
    world.layout.salt_buckets = 2;
    world.layout.span_ms = kHourMs;
    world.layout.ttl_ms = ttl_ms;
    if (ttl_ms != 0) {
      world.layout.slots = static_cast<std::uint32_t>(ttl_ms / kHourMs) + 16;
      world.layout.future_max_ms = kHourMs;
      world.layout.cleaning_ms = kHourMs;
    }
    world.options.expire_after_clock_jump = true;
    world.options.expiry_interval_ms = 1000;
    world.options.log.commit_interval_ms = 0;
    world.options.maintenance_ms = 3'600'000;  // only when asked
  }

  void fill() {
    EXPECT_TRUE(world.open());
    for (int slot = 0; slot < 4; ++slot) {
      for (int part = 0; part < 2; ++part) {
        put(kFullHour + slot * kHourMs + part * kHourMs / 2, 120);
        EXPECT_TRUE(test::run_task(world.points->flush()));
      }
      world.clock.set(kFullHour + (slot + 1) * kHourMs + 1);
      if (slot != 1) continue;
      world.clock.advance(kHourMs / 2);
      EXPECT_TRUE(test::run_task(world.points->seal()));
    }
    put(kFullHour + 1000, 20);
    EXPECT_TRUE(test::run_task(world.points->flush()));
    put(kFullHour + 4 * kHourMs, 20);
    world.crash();
  }

  std::mt19937_64 random_{7};
};

}  // namespace halite::storage
