// Disks that fail, fill up and lose what was not synced, under a RocksStore.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/rocks/rocks_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::run_tasks;
using testing::HasSubstr;

Bytes row_name(int writer, int number) {
  return "w" + std::to_string(writer) + "/" + std::to_string(number);
}

Task<void> write_one(std::shared_ptr<Table> table, Bytes row, Bytes value) {
  std::vector<RowWrite> rows(1);
  rows[0].row = std::move(row);
  rows[0].puts.push_back({{0, "q"}, std::move(value), 0});
  co_return co_await table->write(std::move(rows));
}

class RocksFaults : public testing::Test {
 protected:
  void open(std::uint32_t seed) {
    files_ = std::make_shared<test::FaultyFiles>(seed);
    options_.dir = "/store";
    options_.files = files_;
    reopen();
  }
  void reopen() {
    table_.reset();
    store_.reset();
    auto store = RocksStore::open(options_, clock_, registry_);
    ASSERT_TRUE(store) << store.error().message;
    store_ = *std::move(store);
    auto table =
        run_task(store_->open_table({.name = "t", .families = {{.name = "d"}}, .split_keys = {}}));
    ASSERT_TRUE(table) << table.error().message;
    table_ = *table;
  }

  Result<void> put(Bytes row, Bytes value) {
    return run_task(write_one(table_, std::move(row), std::move(value)));
  }
  bool is_there(Bytes row) {
    const auto rows = run_task(table_->read({{std::move(row), 0, {}}}));
    EXPECT_TRUE(rows) << rows.error().message;
    return rows && !rows->front().cells.empty();
  }
  double counter(const std::string& name) const { return test::metric_value(registry_, name); }

  SystemClock clock_;
  prometheus::Registry registry_;
  RocksOptions options_;
  std::shared_ptr<test::FaultyFiles> files_;
  std::unique_ptr<RocksStore> store_;
  std::shared_ptr<Table> table_;
};

Task<void> write_many(std::shared_ptr<Table> table, int writer, int times) {
  for (int i = 0; i < times; ++i) {
    CO_TRY_VOID(co_await write_one(table, row_name(writer, i), "v"));
  }
  co_return Result<void>();
}

TEST_F(RocksFaults, ConcurrentWritersShareSyncs) {
  open(1);
  files_->set_sync_time(std::chrono::milliseconds(2));
  const double commits_before = counter("halite_storage_commits_total");
  std::vector<Task<void>> tasks;
  for (int writer = 0; writer < 100; ++writer) tasks.push_back(write_many(table_, writer, 10));
  for (const auto& outcome : run_tasks(std::move(tasks), 2)) ASSERT_TRUE(outcome);
  EXPECT_EQ(counter("halite_storage_commit_requests_total"), 1000);
  // Each writer waits for its own ten; a hundred of them go together, give or take stragglers.
  EXPECT_LT(counter("halite_storage_commits_total") - commits_before, 100);
}

TEST_F(RocksFaults, AFullQueueMakesWritersWaitNotFail) {
  options_.commit_queue_bytes_max = 1000;
  options_.commit_group_bytes_max = 500;
  open(1);
  std::vector<Task<void>> tasks;
  for (int writer = 0; writer < 50; ++writer) {
    tasks.push_back(write_one(table_, row_name(writer, 0), Bytes(writer * 40, 'v')));
  }
  for (const auto& outcome : run_tasks(std::move(tasks), 3)) {
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
  for (int writer = 0; writer < 50; ++writer) EXPECT_TRUE(is_there(row_name(writer, 0)));
}

TEST_F(RocksFaults, AFailedSyncFailsItsWritersAndAllLaterOnes) {
  open(1);
  ASSERT_TRUE(put("before", "v"));
  files_->fail_syncs(".log", {Errc::kUnavailable, "the disk is on fire", {}});
  const Result<void> failed = put("during", "v");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("the disk is on fire"));
  EXPECT_EQ(run_task(table_->increment("n", {0, "q"}, 1)).error().code, Errc::kUnavailable);
  // A sync that failed once must not be believed the second time: what it was to write is gone.
  files_->heal();
  EXPECT_EQ(put("after", "v").error().code, Errc::kUnavailable);
  EXPECT_TRUE(is_there("before"));
  EXPECT_FALSE(is_there("during"));
  std::ignore = run_task(store_->close());
  reopen();
  EXPECT_TRUE(is_there("before"));
  EXPECT_FALSE(is_there("after"));
  EXPECT_TRUE(put("after", "v"));
  EXPECT_EQ(run_task(table_->increment("n", {0, "q"}, 1)).value(), 1);
}

TEST_F(RocksFaults, AFullDiskRefusesWritesUntilThereIsSpace) {
  open(1);
  ASSERT_TRUE(put("before", "v"));
  files_->fail_writes(".log", {Errc::kOverloaded, "no space left on device", {}});
  const Result<void> refused = put("during", "v");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("no space left on device"));
  EXPECT_FALSE(put("during", "v"));
  EXPECT_TRUE(is_there("before"));
  files_->heal();
  bool resumed = false;
  for (int i = 0; i < 300 && !resumed; ++i) {
    resumed = put("after", "v").has_value();
    if (!resumed) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(resumed) << "RocksDB looks for space every few seconds";
  ASSERT_TRUE(run_task(store_->close()));
  reopen();
  EXPECT_TRUE(is_there("before"));
  EXPECT_TRUE(is_there("after"));
}

// RocksDB may think in between that there is space again: only the log has none.
TEST_F(RocksFaults, AFullDiskRefusesAllWritesThatCome) {
  open(1);
  ASSERT_TRUE(put("before", "v"));
  files_->fail_writes(".log", {Errc::kOverloaded, "no space left on device", {}});
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(put("during", "v"));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  files_->heal();
  bool resumed = false;
  for (int i = 0; i < 300 && !resumed; ++i) {
    resumed = put("after", "v").has_value();
    if (!resumed) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(resumed);
  ASSERT_TRUE(run_task(store_->close()));
  reopen();
  EXPECT_TRUE(is_there("before"));
  EXPECT_TRUE(is_there("after"));
}

TEST_F(RocksFaults, ATableThatWasHalfMadeIsMadeAgain) {
  open(1);
  const TableSpec spec{.name = "half", .families = {{.name = "d"}}, .split_keys = {}};
  files_->fail_syncs(".log", {Errc::kUnavailable, "the disk is on fire", {}});
  EXPECT_EQ(run_task(store_->open_table(spec)).error().code, Errc::kUnavailable);
  files_->heal();
  EXPECT_FALSE(run_task(store_->open_table(spec))) << "it is not noted, so it is not there";
  std::ignore = run_task(store_->close());
  reopen();
  for (int i = 0; i < 2; ++i) {
    const auto table = run_task(store_->open_table(spec));
    ASSERT_TRUE(table) << table.error().message;
    if (i == 0) ASSERT_TRUE(run_task(write_one(*table, "row", "v")));
    const auto rows = run_task((*table)->read({{"row", 0, {}}}));
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->front().cells.size(), 1u);
    std::ignore = run_task(store_->close());
    reopen();
  }
}

// Counts how far its acknowledged writes go; ends at the first failure.
Task<void> write_until_dark(std::shared_ptr<Table> table, int writer, std::atomic<int>& last) {
  for (int i = 0;; ++i) {
    const Result<void> outcome =
        co_await write_one(table, row_name(writer, i), Bytes(1 + i * 37 % 3000, 'v'));
    if (!outcome) co_return Result<void>();
    last = i;
  }
}

TEST_F(RocksFaults, WhatWasAcknowledgedOutlivesAPowerCut) {
  constexpr int kWriters = 8;
  options_.write_buffer_bytes = 64 << 10;  // so that the cut also falls into flushes
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    open(seed);
    std::vector<std::atomic<int>> acknowledged(kWriters);
    for (auto& last : acknowledged) last = -1;
    std::vector<Task<void>> tasks;
    for (int writer = 0; writer < kWriters; ++writer) {
      tasks.push_back(write_until_dark(table_, writer, acknowledged[writer]));
    }
    // Not after some time, but after some writes: a slow machine has to test the same.
    std::thread cutter([this, &acknowledged, seed] {
      const auto all_reached = [&acknowledged](int number) {
        return std::ranges::all_of(acknowledged, [number](int last) { return last >= number; });
      };
      while (!all_reached(static_cast<int>(seed * 10)))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      files_->cut_power();
    });
    run_tasks(std::move(tasks), 2);
    cutter.join();
    std::ignore = run_task(store_->close());
    table_.reset();
    store_.reset();
    files_->restore_power();
    reopen();
    for (int writer = 0; writer < kWriters; ++writer) {
      for (int i = 0; i <= acknowledged[writer]; ++i) {
        ASSERT_TRUE(is_there(row_name(writer, i))) << row_name(writer, i);
      }
    }
    ASSERT_TRUE(run_task(store_->close()));
  }
}

}  // namespace
}  // namespace halite::storage
