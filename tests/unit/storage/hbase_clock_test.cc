// The times of cells in HBase: a process's own clock, however much it deletes and counts.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/io_threads.h"
#include "storage/hbase_table.h"
#include "tests/support/fake_region_server.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr TimestampMs kNow = 1'700'000'900'000;  // ahead of the fake servers' clock

class HBaseClockTest : public testing::Test {
 public:
  ~HBaseClockTest() override {
    table_.reset();
    EXPECT_TRUE(run_task(client_->close()));
    threads_.join();
  }

 protected:
  HBaseClockTest() {
    hbase_.add_table("t");
    options_.registry = {hbase_.endpoint(0)};
    options_.seed = 1;
    client_.emplace(options_, threads_.executors(), registry_);
    table_ = std::make_shared<HBaseTable>(HBaseTable::Parts{*client_, clock_, "t", 10},
                                          std::vector<FamilySpec>{{.name = "f"}});
  }
  // As somebody else writes it.
  void put_at(const Bytes& row, const Bytes& value, TimestampMs time) {
    EXPECT_TRUE(run_task(client_->mutate("t", {{row, {{"f", "q", value, time}}, {}}})));
  }
  void remove(const std::vector<Bytes>& rows) {
    std::vector<RowWrite> writes;
    for (const Bytes& row : rows) writes.push_back({row, {}, {{0, "q"}}});
    EXPECT_TRUE(run_task(table_->write(std::move(writes))));
  }

  test::FakeHBase hbase_;
  hbase::ClientOptions options_;
  IoThreads threads_{1};
  prometheus::Registry registry_;
  FakeClock now_{kNow};
  HybridClock clock_{now_};
  std::optional<hbase::Client> client_;
  std::shared_ptr<HBaseTable> table_;
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

}  // namespace
}  // namespace halite::storage
