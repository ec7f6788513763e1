// Files of chunks that are damaged: what is not goes on being answered, written and sealed.
#include <algorithm>
#include <bit>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/unit/engine/engine_world.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::WorldPoints;

constexpr std::int64_t kHour = 3'600'000;
constexpr TimestampMs kNow = 1'700'000'000'000 / kHour * kHour;
constexpr int kHosts = 24;
constexpr const char* kChunks = "/data/engine/chunks";

std::vector<std::string> hosts() {
  std::vector<std::string> names;
  for (int i = 0; i < kHosts; ++i) names.push_back(fmt::format("h{:02}", i));
  return names;
}

// Four slots with two flushes each; the first two are sealed, and late points came for one of them.
// Then some points that are only in the log.
class Damaged {
 public:
  explicit Damaged(std::uint32_t salt_buckets = 2) {
    world.layout.salt_buckets = salt_buckets;
    world.layout.span_ms = kHour;
    world.options.log.commit_interval_ms = 0;
    world.options.maintenance_ms = 3'600'000;  // only when asked
    EXPECT_TRUE(world.open());
    for (int slot = 0; slot < 4; ++slot) {
      for (int part = 0; part < 2; ++part) {
        put(kNow + slot * kHour + part * kHour / 2, 120);
        EXPECT_TRUE(run_task(world.points->flush()));
      }
      world.clock.set(kNow + (slot + 1) * kHour + 1);
      if (slot != 1) continue;
      world.clock.advance(kHour / 2);
      EXPECT_TRUE(run_task(world.points->seal()));
    }
    put(kNow + 1000, 20);
    EXPECT_TRUE(run_task(world.points->flush()));
    put(kNow + 4 * kHour, 20);
    world.crash();
  }

  void put(TimestampMs from, int count) {
    const auto ids = world.intern(hosts()).value();
    PointBatch points;
    for (int i = 0; i < count; ++i) {
      for (std::size_t host = 0; host < ids.size(); ++host) {
        const auto bits = static_cast<ValueBits>(random_());
        const TimestampMs time = from + i * 10'000;
        points.add(ids[host], time, bits, 0);
        expected[{hosts()[host], time}] = {.bits = bits, .is_float = false};
      }
    }
    const auto accepted = run_task(world.points->append(std::move(points)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(accepted->refused.empty());
    ASSERT_TRUE(run_task(accepted->durable.wait()));
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
      const Result<WorldPoints> found = read(host, range);
      if (!found) {
        EXPECT_EQ(found.error().code, Errc::kCorruption) << found.error().message;
        EXPECT_THAT(found.error().message, testing::HasSubstr(host));
        continue;
      }
      ++answered;
      WorldPoints wanted;
      for (const auto& [key, value] : expected) {
        const bool inside = key.second >= range.begin && key.second < range.end;
        if (key.first == host && inside) wanted.emplace(key, value);
      }
      std::string wrong;
      for (const auto& [key, value] : wanted) {
        const auto there = found->find(key);
        if (there == found->end()) wrong += fmt::format(" {} is lost", key.second);
        if (there != found->end() && there->second != value)
          wrong += fmt::format(" {}", key.second);
      }
      EXPECT_EQ(wrong.substr(0, 200), "") << host;
      EXPECT_EQ(found->size(), wanted.size()) << host;
    }
    return answered;
  }

  Result<WorldPoints> read(const std::string& host, TimeRange range) {
    SeriesQuery query;
    query.metric = "m";
    query.filters = {{.type = FilterType::kLiteralOr, .key = "host", .pattern = host}};
    const auto selection = run_task(world.points->select(std::move(query)));
    if (!selection) return std::unexpected(selection.error());
    WorldPoints found;
    for (std::uint32_t shard = 0; shard < world.points->shard_count(); ++shard) {
      const auto scan = world.points->scan(*selection, range, shard);
      while (true) {
        TRY(const std::vector<Block> blocks, run_task(scan->next()));
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

  test::EngineWorld world{1, kNow};
  WorldPoints expected;

 private:
  std::mt19937_64 random_{7};
};

// Whatever is damaged, new points are taken, flushed and sealed, and what was answered still is.
void expect_goes_on(Damaged& data, const std::string& what) {
  const Result<void> opened = data.world.open();
  ASSERT_TRUE(opened) << what << ": " << opened.error().message;
  const int before = data.answered();
  for (int slot = 0; slot < 5; ++slot) data.put(data.world.clock.now_ms() - slot * kHour, 3);
  data.put(data.world.clock.now_ms(), 1);
  for (int round = 0; round < 2; ++round) {
    const Result<void> flushed = run_task(data.world.points->flush());
    EXPECT_TRUE(flushed) << what << ": " << flushed.error().message;
    const Result<void> sealed = run_task(data.world.points->seal());
    EXPECT_TRUE(sealed) << what << ": " << sealed.error().message;
    EXPECT_TRUE(data.world.points->health()) << what;
    data.world.clock.advance(kHour);
  }
  EXPECT_GE(data.answered(), before) << what;
}

void expect_reopens(Damaged& data, const std::string& what) {
  const int before = data.answered();
  ASSERT_TRUE(data.world.close()) << what;
  const Result<void> again = data.world.open();
  ASSERT_TRUE(again) << what << ": " << again.error().message;
  EXPECT_GE(data.answered(), before) << what;
  ASSERT_TRUE(data.world.close()) << what;
}

// Every third file for each kind of damage, for the time that it takes.
std::vector<std::size_t> thirds(std::size_t first) {
  const std::size_t files = Damaged().tables().size();
  EXPECT_GT(files, 10u);
  std::vector<std::size_t> chosen;
  for (std::size_t i = first; i < files; i += 3) chosen.push_back(i);
  return chosen;
}

TEST(Damage, OfABlockHurtsWhatIsInItAlone) {
  int hurt = 0;
  for (const std::size_t i : thirds(0)) {
    Damaged data;
    const std::string path = data.tables().at(i);
    data.world.files->flip_bit(path, 10, 3);
    expect_goes_on(data, fmt::format("the first block of {}", path));
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(data.answered({.begin = kNow + 4 * kHour, .end = INT64_MAX}), kHosts) << path;
    expect_reopens(data, path);
    hurt += test::metric_value(data.world.metrics, "halite_engine_damaged_places") > 0 ? 1 : 0;
  }
  EXPECT_GT(hurt, 2);
}

TEST(Damage, OfAnyOtherPlaceStopsNothing) {
  for (const std::size_t i : thirds(1)) {
    Damaged data;
    const std::string path = data.tables().at(i);
    const std::uint64_t bytes = data.world.files->size(path).value();
    const std::uint64_t at = std::min(bytes - 1, bytes * (i % 4) / 4 + 10);
    data.world.files->flip_bit(path, at, 3);
    const std::string what = fmt::format("byte {} of {} of {}", at, bytes, path);
    expect_goes_on(data, what);
    if (testing::Test::HasFatalFailure()) return;
    expect_reopens(data, what);
  }
}

TEST(Damage, AFileCutOffOrGoneStopsNothing) {
  for (const std::size_t i : thirds(2)) {
    const bool gone = i % 2 == 0;
    Damaged data;
    const std::string path = data.tables().at(i);
    if (gone) {
      ASSERT_TRUE(data.world.files->remove(path));
      ASSERT_TRUE(data.world.files->sync_dir(kChunks));
    } else {
      const auto file = data.world.files->open(path, OpenFile::kWrite).value();
      ASSERT_TRUE(file->truncate(data.world.files->size(path).value() / 2));
      ASSERT_TRUE(file->sync());
    }
    const std::string what = fmt::format("{} {}", path, gone ? "gone" : "cut off");
    expect_goes_on(data, what);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_GT(test::metric_value(data.world.metrics, "halite_engine_damaged_places"), 0) << what;
    expect_reopens(data, what);
  }
}

}  // namespace
}  // namespace halite::storage
