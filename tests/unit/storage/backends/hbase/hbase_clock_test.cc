// The times of cells in HBase: a process's own clock, however much it deletes and counts.
#include "tests/unit/storage/backends/hbase/hbase_table_fixture.h"

namespace halite::storage {
namespace {

using test::run_task;

class HBaseClockTest : public HBaseTableTest {
 protected:
  HBaseClockTest() { open(); }
  // As somebody else writes it.
  void put_at(const Bytes& row, const Bytes& value, TimestampMs time) {
    EXPECT_TRUE(run_task(client_->mutate("t", {{row, {{"f", "q", value, time}}, {}}})));
  }
  void remove(const std::vector<Bytes>& rows) {
    std::vector<RowWrite> writes;
    for (const Bytes& row : rows) writes.push_back({row, {}, {{0, "q"}}});
    EXPECT_TRUE(run_task(table_->write(std::move(writes))));
  }
};

TEST_F(HBaseClockTest, DeletesOfManyRowsDoNotCarryItAway) {
  std::vector<Bytes> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back("row" + std::to_string(i));
  for (const Bytes& row : rows) put_at(row, "v", kNow - 1);
  remove(rows);
  EXPECT_EQ(hbase_.row_count("t"), 0U);
  EXPECT_EQ(table_->newest_stamp(), kNow + 1);
}

TEST_F(HBaseClockTest, CountersDoNotCarryItAway) {
  for (int i = 1; i <= 1000; ++i) {
    ASSERT_EQ(run_task(table_->increment("n", {0, "q"}, 1)), i);
  }
  EXPECT_LE(table_->newest_stamp(), kNow);
}

TEST_F(HBaseClockTest, ItFollowsClocksThatAreALittleAheadAndNoOthers) {
  constexpr TimestampMs kDayMs = 86'400'000;
  put_at("near", "v", kNow + 1000);
  remove({"near"});
  EXPECT_EQ(table_->newest_stamp(), kNow + 1001);
  put_at("far", "v", kNow + kDayMs);
  remove({"far"});
  EXPECT_EQ(hbase_.row_count("t"), 0U);
  put_at("far too", "v", kNow + kDayMs);
  EXPECT_EQ(run_task(table_->compare_and_put("far too", {0, "q"}, "v", "w")), CasOutcome::kApplied);
  EXPECT_EQ(hbase_.row_text("t", "far too"), "f:q=w");
  EXPECT_LT(table_->newest_stamp(), kNow + 2000);
}

// A cell of a clock that is far ahead goes alone: what is written now is seen.
TEST_F(HBaseClockTest, WhatIsWrittenAfterACellOfTheFutureWasDeletedIsSeen) {
  constexpr TimestampMs kYearMs = 365LL * 86'400'000;
  put_at("row", "sooner", kNow + kYearMs);
  put_at("row", "later", kNow + 2 * kYearMs);
  remove({"row"});
  EXPECT_EQ(hbase_.row_count("t"), 0U);
  put_at("row", "now", kNow + 1000);
  EXPECT_EQ(hbase_.row_text("t", "row"), "f:q=now");
  // In one change, too.
  put_at("row", "later", kNow + kYearMs);
  std::vector<RowWrite> change = {{"row", {{{0, "q"}, "new", 0}}, {{0, "q"}}}};
  EXPECT_TRUE(run_task(table_->write(std::move(change))));
  EXPECT_EQ(hbase_.row_text("t", "row"), "f:q=new");
  EXPECT_LT(table_->newest_stamp(), kNow + 2000);
}

TEST_F(HBaseClockTest, SoIsWhatIsWrittenAfterOneOfTheFutureWasReplaced) {
  constexpr TimestampMs kYearMs = 365LL * 86'400'000;
  put_at("row", "v", kNow + kYearMs);
  const Cell held{"q", "v", kNow + kYearMs};
  std::vector<CellWrite> with = {{{0, "r"}, "w", 0}};
  EXPECT_EQ(run_task(table_->replace_cell("row", 0, held, std::move(with))), CasOutcome::kApplied);
  EXPECT_EQ(hbase_.row_text("t", "row"), "f:r=w");
  put_at("row", "now", kNow);
  EXPECT_EQ(hbase_.row_text("t", "row"), "f:q=now,f:r=w");
}

// As where this process's clock is far behind those of the servers, which add to the cell.
TEST_F(HBaseClockTest, OlderVersionsOfOneOfTheFutureGoWithIt) {
  constexpr TimestampMs kYearMs = 365LL * 86'400'000;
  put_at("row", "ab", kNow + kYearMs);
  put_at("row", "a", kNow + kYearMs - 1);
  put_at("row", "", kNow);
  const Cell held{"q", "ab", kNow + kYearMs};
  EXPECT_EQ(run_task(table_->replace_cell("row", 0, held, {})), CasOutcome::kApplied);
  EXPECT_EQ(hbase_.row_count("t"), 0U);
  put_at("row", "now", kNow + 1);
  EXPECT_EQ(hbase_.row_text("t", "row"), "f:q=now");
}

}  // namespace
}  // namespace halite::storage
