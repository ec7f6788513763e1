// What recovery is for: it is cut short itself, the log is damaged, syncs failed before it.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "storage/tsdb/wal/log.h"
#include "storage/tsdb/wal/records.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::WorldPoints;

constexpr int kBatches = 6;
constexpr std::uint64_t kCutsMax = 2000;

class RecoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.layout.salt_buckets = 2;
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 3'600'000;  // only when asked
    ASSERT_TRUE(world_.open());
  }

  // One integer point of each host, durable in the log.
  void append(const std::vector<std::string>& hosts, TimestampMs time, WorldPoints& expected) {
    const std::vector<SeriesId> ids = world_.intern(hosts).value();
    PointBatch points;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto value = static_cast<std::int64_t>(expected.size());
      points.add(ids[i], time, integer_bits(value), 0);
      expected[{hosts[i], time}] = {.bits = integer_bits(value), .is_float = false};
    }
    const auto accepted = test::run_task(world_.points->append(std::move(points)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(test::run_task(accepted->durable.wait()));
  }

  void restart() {
    world_.crash();
    const Result<void> opened = world_.open();
    ASSERT_TRUE(opened) << opened.error().message;
  }

  // Durable in the log, and not in chunks.
  WorldPoints write() {
    const std::vector<std::string> hosts = {"a", "b", "c", "d", "e"};
    const std::vector<SeriesId> ids = world_.intern(hosts).value();
    WorldPoints written;
    for (int batch = 0; batch < kBatches; ++batch) {
      PointBatch points;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        // One point each that stays, and one that every batch writes anew.
        for (const TimestampMs time : {kNow - batch * 1000, kNow + 1000}) {
          points.add(ids[i], time, integer_bits(batch), 0);
          written[{hosts[i], time}] = {.bits = integer_bits(batch), .is_float = false};
        }
      }
      const auto accepted = test::run_task(world_.points->append(std::move(points)));
      EXPECT_TRUE(accepted);
      EXPECT_TRUE(test::run_task(accepted->durable.wait()));
    }
    return written;
  }

  test::EngineWorld world_{1, kNow};
};

TEST_F(RecoveryTest, MayBeCutShortAtEveryChangeOfTheDisk) {
  const WorldPoints expected = write();
  world_.crash();
  world_.options.head_bytes_max = 1;  // a flush after every record: cut between two as well
  std::uint64_t changes = 0;
  std::string error;
  for (; changes < kCutsMax; changes += 1 + changes / test::step(8, 2)) {
    world_.files->cut_power_after(changes);
    const Result<void> opened = world_.open();
    world_.crash();
    if (opened) break;
    error = opened.error().message;
  }
  ASSERT_LT(changes, kCutsMax) << "it never opened: " << error;
  ASSERT_GT(changes, 60u) << "there was not much to be cut";
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(RecoveryTest, TheEngineContinuesWithTheHeadOfTheLog) {
  WorldPoints expected = write();
  restart();
  const std::size_t files = world_.points->chunk_files().size();
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(test::run_task(world_.points->flush()));
  EXPECT_GT(world_.points->chunk_files().size(), files) << "the points were in chunks already";
  EXPECT_EQ(world_.read().value(), expected);
  restart();  // the rows of names and series are durable now, and the log is empty
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

// The ids of the log continue: known series keep theirs, and new ones get those between.
// Records that the earlier process wrote and could not sync define series of later records.
TEST_F(RecoveryTest, WhatItFindsInTheLogIsDurableBeforeTheEngineContinues) {
  WorldPoints expected;
  int written = 0;
  for (int round = 0; round < 8; ++round) {
    const std::string host = "host" + std::to_string(round);
    const std::vector<SeriesId> ids = world_.intern({host}).value();
    // Its name is durable, so that no sync of its own fails before the points come.
    auto naming = world_.points->uids().find_or_assign(NameKind::kTagValue, host);
    ASSERT_TRUE(test::run_task(std::move(naming)));
    world_.files->fail_syncs(".log", {Errc::kUnavailable, "input/output error", {}});
    PointBatch points;
    points.add(ids.front(), kNow + 5000, integer_bits(round), 0);
    const auto accepted = test::run_task(world_.points->append(std::move(points)));
    if (accepted) {  // unless a sync in the background failed first
      ASSERT_FALSE(test::run_task(accepted->durable.wait()));
      ++written;
    }
    world_.files->heal();
    world_.files->cut_power();
    std::ignore = world_.close();
    world_.files->restart_process();
    ASSERT_TRUE(world_.open());
    append({host}, kNow, expected);
    restart();
    const WorldPoints found = world_.read().value();
    for (const auto& [key, value] : expected) {
      ASSERT_TRUE(found.contains(key)) << key.first << " in round " << round;
      EXPECT_EQ(found.at(key), value);
    }
  }
  EXPECT_GT(written, 0);
  ASSERT_TRUE(world_.close());
}

TEST_F(RecoveryTest, ManyRestartsWithKnownAndNewSeriesLoseNothing) {
  WorldPoints expected;
  std::vector<std::string> silent;
  for (int i = 0; i < 9; ++i) silent.push_back("silent" + std::to_string(i));
  for (int round = 0; round < 12; ++round) {
    ASSERT_TRUE(world_.intern(silent));  // ids without points, which no log has
    std::vector<std::string> hosts = {"first", "second"};
    for (int i = 0; i < 5; ++i) hosts.push_back("host" + std::to_string(3 * round + i));
    append(hosts, kNow + round * 1000, expected);
    append(hosts, kNow - round * 1000 - 500, expected);
    if (round % 5 == 3) ASSERT_TRUE(test::run_task(world_.points->flush()));
    restart();
    ASSERT_EQ(world_.read().value(), expected) << "round " << round;
  }
  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(RecoveryTest, AHeadOverItsLimitIsFlushedAndContinued) {
  WorldPoints expected = write();
  world_.options.head_bytes_max = 1;
  restart();
  EXPECT_EQ(world_.read().value(), expected);
  world_.options.head_bytes_max = EngineOptions().head_bytes_max;
  restart();
  append({"a", "new"}, kNow + 2000, expected);
  restart();
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(RecoveryTest, WhatDoesNotFitTheLimitOfSeriesGoesIntoChunks) {
  WorldPoints expected = write();
  world_.options.series_max = 3;
  restart();
  world_.options.series_max = EngineOptions().series_max;
  restart();
  append({"a", "new"}, kNow + 2000, expected);
  EXPECT_EQ(world_.read().value(), expected);
  restart();
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

// Its points could be shown under one id only. The head is restored, or flushed while it is read.
TEST_F(RecoveryTest, RefusesALogInWhichASeriesHasTwoIds) {
  write();
  const SeriesId id = world_.intern({"a"}).value().front();
  const std::uint32_t shard = world_.points->series(id).shard;
  const Bytes tsuid = world_.points->series(id).tsuid;
  world_.crash();
  LogOptions options = world_.options.log;
  options.dir = "/data/engine/log";
  const ReplayCallbacks replay{.record = [](Sequence, BytesView) { return Result<void>(); },
                               .progress = {}};
  auto log = Log::open(world_.files, options, replay, world_.metrics);
  ASSERT_TRUE(log) << log.error().message;
  Bytes record;
  log_records::append_series(record, {.id = id + 100, .shard = shard, .tsuid = tsuid});
  ASSERT_TRUE((*log)->append(record));
  ASSERT_TRUE((*log)->close());
  log->reset();
  for (const std::size_t head_bytes_max : {EngineOptions().head_bytes_max, std::size_t{1}}) {
    world_.options.head_bytes_max = head_bytes_max;
    EXPECT_EQ(world_.open().error().code, Errc::kCorruption) << head_bytes_max;
  }
}

TEST_F(RecoveryTest, ANewRetentionRuleDoesNotLosePointsOfTheLog) {
  WorldPoints expected = write();
  world_.options.retention = {{.prefix = "m", .ttl_ms = std::int64_t{365} * 24 * 3600 * 1000}};
  restart();
  EXPECT_EQ(world_.read().value(), expected);
  append({"a", "new"}, kNow + 2000, expected);
  restart();
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

// RocksDB must not clean up after an ingestion that it takes for failed and that the disk has.
TEST_F(RecoveryTest, AnySyncMayFail) {
  WorldPoints expected;
  for (std::uint64_t number = 1; number < 60; number += 3) {
    for (const auto& [key, value] : write()) expected[key] = value;
    world_.files->fail_sync_number(number);
    std::ignore = test::run_task(world_.points->flush());
    std::ignore = test::run_task(world_.points->seal());
    std::ignore = world_.close();
    world_.files->heal();
    const Result<void> opened = world_.open();
    ASSERT_TRUE(opened) << "sync " << number << ": " << opened.error().message;
    EXPECT_EQ(world_.read().value(), expected) << "sync " << number;
  }
  ASSERT_TRUE(world_.close());
}

TEST_F(RecoveryTest, PointsWhoseSeriesWasNamedInADamagedRecordAreLostAlone) {
  ASSERT_TRUE(world_.intern({"a", "b", "c", "d", "e"}));
  ASSERT_TRUE(test::run_task(world_.points->flush()));  // the names are in rows now
  const WorldPoints expected = write();
  world_.crash();
  constexpr std::uint64_t kFirstRecord = 4096 + 48;  // behind the segment's page and a group's head
  for (const std::string& name : world_.files->list("/data/engine/log").value()) {
    if (!name.ends_with(".log")) continue;
    world_.files->overwrite("/data/engine/log/" + name, kFirstRecord, "damaged");
  }
  ASSERT_TRUE(world_.open());
  const WorldPoints found = world_.read().value();
  EXPECT_LT(found.size(), expected.size());
  EXPECT_GT(found.size(), 0u);
  for (const auto& [key, value] : found) EXPECT_EQ(value, expected.at(key));
  ASSERT_TRUE(world_.close());
}

}  // namespace
}  // namespace halite::storage
