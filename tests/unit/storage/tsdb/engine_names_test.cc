// New series and names with a power cut at a random change of the disk: what was acknowledged is
// found by its names afterwards, and nothing else. HALITE_SEED runs one seed.
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/rocks/rocks_store.h"
#include "storage/tsdb/engine_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr std::uint32_t kMetrics = 3;
constexpr int kRounds = 5;
constexpr int kStepsMax = 40;

// Names and points on one disk that loses what was not synced.
class NamesWorld {
 public:
  explicit NamesWorld(std::uint32_t seed) : files(std::make_shared<test::FaultyFiles>(seed)) {}

  void open(std::size_t head_freeze_bytes = 128 << 20) {
    RocksOptions rocks;
    rocks.dir = "/data/rocks";
    rocks.files = files;
    auto opened_rows = RocksStore::open(rocks, clock, metrics);
    ASSERT_TRUE(opened_rows) << opened_rows.error().message;
    rows = std::move(*opened_rows);
    CyclicOptions cyclic;
    cyclic.salt_buckets = 4;
    EngineOptions options;
    options.dir = "/data/engine";
    options.log.segment_bytes = 16 << 20;
    options.log.commit_interval_ms = 0;
    options.log.idle_mark_ms = 1;
    options.head_freeze_bytes = head_freeze_bytes;
    options.maintenance_ms = 1;
    options.read_threads = 1;
    EngineStore::Dependencies dependencies{.store = *rows,
                                           .layout = CyclicLayout::make(cyclic).value(),
                                           .clock = clock,
                                           .files = files,
                                           .registry = metrics};
    auto opened = run_task(EngineStore::open(std::move(dependencies), options));
    ASSERT_TRUE(opened) << opened.error().message;
    points = std::move(*opened);
  }

  // Good only where nothing was in the way.
  Result<void> close() {
    const Result<void> closed = run_task(points->close());
    points.reset();
    const Result<void> rows_closed = run_task(rows->close());
    rows.reset();
    return closed ? rows_closed : closed;
  }

  void crash() {
    files->cut_power();
    std::ignore = close();  // it cannot end well; what matters is what the disk has
    files->restore_power();
  }

  const std::shared_ptr<test::FaultyFiles> files;
  const FakeClock clock{kNow};
  prometheus::Registry metrics;
  std::unique_ptr<RocksStore> rows;
  std::unique_ptr<EngineStore> points;
};

SeriesName series_name(std::uint32_t metric, const std::string& host) {
  return {.metric = fmt::format("m{}", metric), .tags = {{.key = "host", .value = host}}};
}

std::string text_of(const Series& series) {
  return fmt::format("{} {}={}", series.metric.text(), series.tags[0].key, series.tags[0].value);
}

// The values of all series of the metric by "metric key=value"; none where there is no such metric.
void read_metric(EngineStore& points, std::uint32_t metric,
                 std::map<std::string, std::set<ValueBits>>& found) {
  SeriesQuery query;
  query.metric = fmt::format("m{}", metric);
  const auto known = run_task(points.uids().find(NameKind::kMetric, query.metric));
  if (!known && known.error().code == Errc::kNotFound) return;
  const auto selection = run_task(points.select(std::move(query), {}));
  ASSERT_TRUE(selection) << selection.error().message;
  for (std::uint32_t shard = 0; shard < points.shard_count(); ++shard) {
    const auto scan = points.scan(*selection, {.begin = 0, .end = INT64_MAX}, shard);
    for (;;) {
      const auto blocks = run_task(scan->next());
      ASSERT_TRUE(blocks) << blocks.error().message;
      if (blocks->empty()) break;
      for (const Block& block : *blocks) {
        found[text_of(points.series(block.series))].insert(block.values.begin(),
                                                           block.values.end());
      }
    }
  }
}

class NamesCrashTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  NamesCrashTest() : random_(GetParam()), world_(GetParam()) {}

  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  // Points of some series, most of them new. False when the power is gone.
  bool append() {
    std::vector<SeriesName> names;
    for (std::uint32_t i = 0, count = 1 + below(20); i < count; ++i) {
      if (below(4) != 0) ++hosts_;
      while (renamed_.contains(fmt::format("h{}", hosts_))) ++hosts_;
      names.push_back(series_name(below(kMetrics), fmt::format("h{}", hosts_)));
    }
    const auto ids = run_task(world_.points->intern(std::move(names), CreateNames()));
    if (!ids) return false;
    PointBatch batch;
    std::vector<std::pair<std::string, ValueBits>> values;
    for (const auto& id : *ids) {
      if (!id) return false;
      const ValueBits value = ++values_;
      values.emplace_back(text_of(world_.points->series(*id)), value);
      batch.add(*id, kNow - static_cast<TimestampMs>(value), value, 0);
    }
    for (const auto& [series, value] : values) sent_[series].insert(value);
    const auto accepted = run_task(world_.points->append(std::move(batch)));
    if (!accepted) return false;
    if (below(4) == 0) return true;  // nobody waits
    if (!run_task(accepted->durable.wait())) return false;
    for (const auto& [series, value] : values) acknowledged_[series].insert(value);
    return true;
  }

  // A name of its own, without points.
  bool assign() {
    const std::string name = fmt::format("alone{}", ++alone_);
    const auto entry = run_task(world_.points->uids().find_or_assign(NameKind::kTagValue, name));
    if (!entry) return false;
    assigned_[name] = entry->uid;
    return true;
  }

  // Of a host that may have series. Afterwards one of the two names counts.
  bool rename() {
    const std::string from = fmt::format("h{}", below(hosts_ + 1));
    if (!renamed_.insert(from).second) return true;
    const std::string to = from + "renamed";
    const auto renamed = run_task(world_.points->uids().rename(NameKind::kTagValue, from, to));
    if (!renamed && renamed.error().code == Errc::kNotFound) return true;
    for (std::uint32_t metric = 0; metric < kMetrics; ++metric) {
      const std::string old_series = fmt::format("m{} host={}", metric, from);
      const std::string new_series = fmt::format("m{} host={}", metric, to);
      sent_[new_series].merge(std::set(sent_[old_series]));
      if (renamed) acknowledged_[new_series].merge(acknowledged_[old_series]);
      if (!renamed) in_doubt_.emplace(old_series, new_series);
    }
    return renamed.has_value();
  }

  bool step() {
    switch (below(12)) {
      case 0:
        return run_task(world_.points->flush()).has_value();
      case 1:
        return run_task(world_.points->suggest(NameKind::kTagValue, "h", 5)).has_value();
      case 2:
        return rename();
      case 3:
        return assign();
      default:
        return append();
    }
  }

  void check() {
    std::map<std::string, std::set<ValueBits>> found;
    for (std::uint32_t metric = 0; metric < kMetrics; ++metric) {
      ASSERT_NO_FATAL_FAILURE(read_metric(*world_.points, metric, found));
    }
    for (const auto& [series, values] : acknowledged_) {
      const auto other = in_doubt_.find(series);
      for (const ValueBits value : values) {
        EXPECT_TRUE(found[series].contains(value) ||
                    (other != in_doubt_.end() && found[other->second].contains(value)))
            << series << " lost " << value;
      }
    }
    in_doubt_.clear();
    for (const auto& [series, values] : found) {
      for (const ValueBits value : values) {
        EXPECT_TRUE(sent_[series].contains(value)) << series << " never had " << value;
      }
    }
    acknowledged_ = found;  // what is there stays
    std::set<std::uint64_t> ids;
    for (const auto& [name, id] : assigned_) {
      const auto entry = run_task(world_.points->uids().find(NameKind::kTagValue, name));
      ASSERT_TRUE(entry) << entry.error().message;
      EXPECT_EQ(entry->uid, id);
      EXPECT_TRUE(ids.insert(id).second) << name << " shares its id";
    }
  }

  std::mt19937 random_;
  NamesWorld world_;
  std::uint32_t hosts_ = 0;
  std::uint32_t alone_ = 0;
  std::map<std::string, std::uint64_t> assigned_;  // names without points, and their ids
  std::set<std::string> renamed_;                  // or tried to; nobody asks for these any more
  std::map<std::string, std::string> in_doubt_;    // a rename that the power cut stopped
  ValueBits values_ = 0;
  std::map<std::string, std::set<ValueBits>> sent_;
  std::map<std::string, std::set<ValueBits>> acknowledged_;
};

TEST_P(NamesCrashTest, WhatWasAcknowledgedIsFoundByItsNames) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(fmt::format("HALITE_SEED={} round {}", GetParam(), round));
    ASSERT_NO_FATAL_FAILURE(world_.open(below(2) == 0 ? 1 : 64 << 10));
    ASSERT_NO_FATAL_FAILURE(check());
    world_.files->cut_power_after(1 + below(300));
    for (int steps = 0; steps < kStepsMax && step(); ++steps) {
    }
    world_.crash();
    if (HasFailure()) return;
  }
  ASSERT_NO_FATAL_FAILURE(world_.open());
  check();
  EXPECT_TRUE(world_.close());
}

std::vector<std::uint32_t> seeds() {
  if (const char* seed = std::getenv("HALITE_SEED")) {
    return {static_cast<std::uint32_t>(std::strtoul(seed, nullptr, 10))};
  }
  return {1, 2, 3};
}

INSTANTIATE_TEST_SUITE_P(Seeds, NamesCrashTest, testing::ValuesIn(seeds()));

// Rows of the table, by key.
std::set<Bytes> keys_of(NamesWorld& world, TableSpec spec) {
  std::set<Bytes> keys;
  const auto table = run_task(world.rows->open_table(std::move(spec)));
  ScanSpec everything;
  everything.keys_only = true;
  const auto scanner = (*table)->scan(std::move(everything), {});
  for (;;) {
    const auto rows = run_task(scanner->next({}));
    if (!rows || rows->empty()) return keys;
    for (const Row& row : *rows) keys.insert(row.key);
  }
}

TEST(EngineNamesTest, ANewSeriesIsInTheLogBeforeItHasARow) {
  NamesWorld world(1);
  ASSERT_NO_FATAL_FAILURE(world.open());
  const auto ids = run_task(world.points->intern({series_name(0, "a")}, CreateNames()));
  ASSERT_TRUE(ids);
  PointBatch batch;
  batch.add(ids->front().value(), kNow, 7, 0);
  const auto accepted = run_task(world.points->append(std::move(batch)));
  ASSERT_TRUE(accepted);
  ASSERT_TRUE(run_task(accepted->durable.wait()));
  EXPECT_TRUE(keys_of(world, series_table_spec("halite-series")).empty());
  EXPECT_EQ(keys_of(world, uid_table_spec("tsdb-uid")), std::set<Bytes>{Bytes(1, '\0')});

  world.crash();
  ASSERT_NO_FATAL_FAILURE(world.open());
  EXPECT_TRUE(keys_of(world, series_table_spec("halite-series")).empty()) << "it is in the log";
  std::map<std::string, std::set<ValueBits>> found;
  ASSERT_NO_FATAL_FAILURE(read_metric(*world.points, 0, found));
  EXPECT_EQ(found, (std::map<std::string, std::set<ValueBits>>{{"m0 host=a", {7}}}));
  ASSERT_TRUE(run_task(world.points->flush()));
  EXPECT_EQ(keys_of(world, series_table_spec("halite-series")).size(), 1);
  EXPECT_TRUE(world.close());
}

TEST(EngineNamesTest, NamesAloneLeaveTheLogWithAFlushToo) {
  NamesWorld world(1);
  ASSERT_NO_FATAL_FAILURE(world.open());
  const auto entry = run_task(world.points->uids().find_or_assign(NameKind::kTagKey, "host"));
  ASSERT_TRUE(entry) << entry.error().message;
  world.crash();
  ASSERT_NO_FATAL_FAILURE(world.open());
  EXPECT_TRUE(keys_of(world, uid_table_spec("tsdb-uid")).contains("host"));
  EXPECT_EQ(run_task(world.points->uids().find(NameKind::kTagKey, "host"))->uid, entry->uid);
  ASSERT_TRUE(run_task(world.points->uids().find_or_assign(NameKind::kTagKey, "dc")));
  ASSERT_TRUE(run_task(world.points->flush()));
  EXPECT_TRUE(keys_of(world, uid_table_spec("tsdb-uid")).contains("dc"));
  EXPECT_TRUE(world.close());
}

TEST(EngineNamesTest, IdsGoOnWithoutAGapAfterAClose) {
  NamesWorld world(1);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    ASSERT_NO_FATAL_FAILURE(world.open());
    const std::string name = fmt::format("m{}", id);
    EXPECT_EQ(run_task(world.points->uids().find_or_assign(NameKind::kMetric, name))->uid, id);
    EXPECT_TRUE(world.close());
  }
}

TEST(EngineNamesTest, AFlushWritesTheRowsOfNewSeries) {
  NamesWorld world(1);
  ASSERT_NO_FATAL_FAILURE(world.open());
  const auto ids = run_task(world.points->intern({series_name(0, "a"), series_name(0, "b")}, {}));
  ASSERT_TRUE(ids);
  PointBatch batch;
  batch.add(ids->front().value(), kNow, 7, 0);
  ASSERT_TRUE(run_task(world.points->append(std::move(batch))));
  ASSERT_TRUE(run_task(world.points->flush()));
  EXPECT_EQ(keys_of(world, series_table_spec("halite-series")).size(), 2);  // as on other stores
  EXPECT_TRUE(world.close());
}

}  // namespace
}  // namespace halite::storage
