// What HBaseStore does beside the contract of all stores.
#include "storage/backends/hbase/table/hbase_store.h"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hbase/test_cluster.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::HasSubstr;

class HBaseStoreTest : public testing::Test {
 protected:
  std::unique_ptr<HBaseStore> open(const HBaseStoreOptions& options) {
    return std::make_unique<HBaseStore>(options, clock_, registry_);
  }
  static TableSpec points(std::int64_t ttl_ms) {
    return {.name = "points", .families = {{.name = "t", .ttl_ms = ttl_ms}}, .split_keys = {}};
  }

  SystemClock clock_;
  prometheus::Registry registry_;
  HBaseStoreOptions options_ = test::store_on_cluster();
};

Task<void> put_and_read(std::shared_ptr<Table> table) {
  std::vector<RowWrite> writes = {{"row", {{{0, "q"}, "v", 0}}, {}}};
  CO_TRY_VOID(co_await table->write(std::move(writes)));
  std::vector<RowRead> reads = {{"row", 0, {}}};
  CO_TRY(const std::vector<Row> rows, co_await table->read(std::move(reads)));
  EXPECT_EQ(rows.at(0).cells.at(0).value, "v");
  co_return Result<void>();
}

TEST_F(HBaseStoreTest, TablesGetATtlWhichIsLoweredOnlyWhereThatIsAskedFor) {
  auto store = open(options_);
  const std::string name = options_.table_prefix + "points";
  const auto ttl = [&store, &name] {
    return run_task(store->client().describe_table(name))
        .value()
        ->families.at(0)
        .attributes.at("TTL");
  };
  ASSERT_TRUE(run_task(store->open_table(points(86'400'000))));
  EXPECT_EQ(ttl(), "86460");  // a minute more than ours
  ASSERT_TRUE(run_task(store->open_table(points(3'600'000))));
  EXPECT_EQ(ttl(), "86460");
  const auto table = run_task(store->open_table(points(0)));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(ttl(), "2147483647");
  EXPECT_TRUE(run_task(put_and_read(*table)));
  ASSERT_TRUE(run_task(store->open_table(points(3'600'000))));
  EXPECT_EQ(ttl(), "2147483647");
  EXPECT_TRUE(run_task(store->close()));
  options_.tables.lower_ttl = true;
  store = open(options_);
  ASSERT_TRUE(run_task(store->open_table(points(3'600'000))));
  EXPECT_EQ(ttl(), "3660");
  EXPECT_TRUE(run_task(store->close()));
}

Task<void> put_rows(std::shared_ptr<Table> table, std::string rows) {
  std::vector<RowWrite> writes;
  for (const char row : rows) {
    writes.push_back({Bytes(1, row), {{{0, "p"}, "v", 0}, {{0, "q"}, "v", 0}}, {}});
  }
  co_return co_await table->write(std::move(writes));
}

Task<void> delete_cell(std::shared_ptr<Table> table, Bytes row, Bytes qualifier) {
  std::vector<RowWrite> writes(1);
  writes[0].row = std::move(row);
  writes[0].deletes.push_back({0, std::move(qualifier)});
  co_return co_await table->write(std::move(writes));
}

// What views look for: rows that anyone changed since a time.
TEST_F(HBaseStoreTest, ScansFindRowsWithDeletedCells) {
  auto store = open(options_);
  const auto table = run_task(store->open_table(points(0))).value();
  const auto changed = [&](TimestampMs since) {
    ScanSpec spec;
    spec.keys_only = true;
    spec.deletions = true;
    spec.time_begin = since;
    spec.ranges = {{"a", "e"}};
    std::string keys;
    const auto scanner = table->scan(std::move(spec), {});
    while (true) {
      const std::vector<Row> rows = run_task(scanner->next({})).value();
      if (rows.empty()) return keys;
      for (const Row& row : rows) keys += row.key + "/" + std::to_string(row.cells.size()) + " ";
    }
  };
  const TimestampMs begun = clock_.now_ms();
  ASSERT_TRUE(run_task(put_rows(table, "abcd")));
  EXPECT_EQ(changed(begun), "a/1 b/1 c/1 d/1 ");
  const TimestampMs since = table->newest_stamp() + 1;
  while (clock_.now_ms() <= since) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(changed(since), "");
  ASSERT_TRUE(run_task(delete_cell(table, "b", "q")));
  ASSERT_TRUE(run_task(delete_cell(table, "c", "p")));
  ASSERT_TRUE(run_task(delete_cell(table, "c", "q")));
  ASSERT_TRUE(run_task(put_rows(table, "d")));
  EXPECT_EQ(changed(since), "b/1 c/1 d/1 ");
  EXPECT_EQ(changed(begun), "a/1 b/1 c/1 d/1 ");
  EXPECT_TRUE(run_task(store->close()));
}

Task<Bytes> append_and_read(std::shared_ptr<Table> table, Bytes more) {
  std::vector<CellAppend> appends = {{"row", {0, "q"}, std::move(more)}};
  CO_TRY_VOID(co_await table->append(std::move(appends)));
  std::vector<RowRead> reads = {{"row", 0, {}}};
  CO_TRY(const std::vector<Row> rows, co_await table->read(std::move(reads)));
  if (rows.at(0).cells.empty()) co_return Bytes("nothing");
  co_return rows.at(0).cells.at(0).value;
}

Task<CasOutcome> delete_appended(std::shared_ptr<Table> table) {
  std::vector<RowRead> reads = {{"row", 0, {}}};
  CO_TRY(std::vector<Row> rows, co_await table->read(std::move(reads)));
  Cell held = std::move(rows.at(0).cells.at(0));
  co_return co_await table->replace_cell("row", 0, std::move(held), {});
}

// Also where this machine's clock is ahead of the servers', or behind, which stamp what is added.
TEST_F(HBaseStoreTest, WhatIsAddedToACellIsSeenAfterADelete) {
  for (const std::int64_t ahead_ms : {3'600'000, -3'600'000}) {
    const FakeClock clock(clock_.now_ms() + ahead_ms);
    HBaseStore store(options_, clock, registry_);
    const auto table = run_task(store.open_table(points(0))).value();
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(run_task(append_and_read(table, "a")).value(), "a");
      EXPECT_EQ(run_task(append_and_read(table, "bc")).value(), "abc");
      EXPECT_EQ(run_task(delete_appended(table)).value(), CasOutcome::kApplied);
    }
    EXPECT_TRUE(run_task(store.close()));
  }
}

TEST_F(HBaseStoreTest, WhatIsThereIsThereForTheNextOne) {
  const auto first = open(options_);
  const auto table = run_task(first->open_table(points(0)));
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_TRUE(run_task(put_and_read(*table)));
  ASSERT_TRUE(run_task(first->close()));
  options_.tables.create = false;
  const auto second = open(options_);
  const auto again = run_task(second->open_table(points(0)));
  ASSERT_TRUE(again) << again.error().message;
  std::vector<RowRead> reads = {{"row", 0, {"q"}}};
  EXPECT_EQ(run_task((*again)->read(reads)).value().at(0).cells.at(0).value, "v");
  EXPECT_TRUE(run_task(second->close()));
}

TEST_F(HBaseStoreTest, TablesAreNotMadeWhereThatIsOff) {
  options_.tables.create = false;
  const auto store = open(options_);
  const auto refused = run_task(store->open_table(points(0)));
  EXPECT_EQ(refused.error().code, Errc::kNotFound);
  EXPECT_THAT(refused.error().message, HasSubstr(options_.table_prefix + "points"));
  EXPECT_TRUE(run_task(store->close()));
}

TEST_F(HBaseStoreTest, ATableIsCutWhereItIsAsked) {
  const auto store = open(options_);
  TableSpec spec = points(0);
  spec.split_keys = {"g", "p"};
  const auto table = run_task(store->open_table(spec));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(run_task(store->client().regions(options_.table_prefix + "points")).value().size(), 3U);
  std::vector<RowWrite> writes;
  for (const char* row : {"a", "g", "m", "p", "z"})
    writes.push_back({row, {{{0, "q"}, row, 0}}, {}});
  ASSERT_TRUE(run_task((*table)->write(writes)));
  for (const bool reverse : {false, true}) {
    ScanSpec scan;
    scan.ranges = {{"", "b"}, {"f", "n"}, {"p", ""}};
    scan.reverse = reverse;
    const std::vector<Row> rows = run_task((*table)->scan(scan, {})->next({})).value();
    std::string keys;
    for (const Row& row : rows) keys += row.key;
    EXPECT_EQ(keys, reverse ? "zpmga" : "agmpz");
  }
  EXPECT_TRUE(run_task(store->close()));
}

TEST_F(HBaseStoreTest, NobodyThereIsUnavailable) {
  options_.client.quorum = {{"127.0.0.1", 1}};
  options_.client.operation_ms_max = 500;
  const auto store = open(options_);
  const auto refused = run_task(store->open_table(points(0)));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().code == Errc::kUnavailable || refused.error().code == Errc::kTimeout)
      << refused.error().message;
  EXPECT_TRUE(run_task(store->close()));
}

}  // namespace
}  // namespace halite::storage
