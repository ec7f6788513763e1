// Additions to counters when a region gets another server while an answer is lost.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "tests/support/soon.h"
#include "tests/unit/storage/backends/hbase/client_world.h"

namespace halite::storage::hbase {
namespace {

using test::FakeCall;
using test::FakeReaction;
using test::run_task;
using testing::HasSubstr;

std::string counter(std::uint64_t value) { return "f:q=" + number(value); }

class ClientAddTest : public ClientTest {
 protected:
  ClientAddTest() { options_.call_ms_max = 200; }  // so long waits who gets no answer
  void SetUp() override {
    hbase_.add_table("t");
    hbase_.move_region("t", "r", 1);  // server 0 has hbase:meta
  }

  Result<RowAddResult> add(std::int64_t delta) {
    std::vector<RowAdd> adds(1);
    adds[0] = {.row = "r", .deltas = {{"f", "q", delta}}, .once = {}};
    TRY(std::vector<RowAddResult> added, run_task(client().add("t", std::move(adds))));
    return std::move(added.front());
  }

  // The answer to the request with this number is lost. Then `happens`, and server 1, if it still
  // answers, says that the region has moved.
  Result<RowAddResult> add_and_move(std::int64_t delta, int lost, auto happens) {
    std::atomic<int> changes = 0;
    std::atomic<bool> moved = false;
    hbase_.script([&, port = hbase_.endpoint(0).port](const FakeCall& call) -> FakeReaction {
      if (call.table != "t" || (call.method != "Multi" && call.method != "Mutate")) return {};
      if (!moved)
        return {.what = ++changes == lost ? FakeReaction::kSwallow : FakeReaction::kAnswer};
      if (call.server == 1) {
        return {.what = call.method == "Multi" ? FakeReaction::kThrowInside : FakeReaction::kThrow,
                .exception = "exceptions.RegionMovedException",
                .text = "Region moved to: hostname=127.0.0.1 port=" + std::to_string(port) +
                        " startCode=1. As of locationSeqNum=99."};
      }
      return {.what = said_ ? FakeReaction::kAnswer : FakeReaction::kSayNothing};
    });
    std::thread mover([&] {
      EXPECT_TRUE(test::soon([&] { return changes >= lost; }));
      happens();
      moved = true;
      hbase_.move_region("t", "r", 0);
    });
    Result<RowAddResult> added = add(delta);
    mover.join();
    hbase_.script([](const FakeCall&) { return FakeReaction{}; });
    return added;
  }

  bool said_ = true;  // server 0 says what a counter holds
};

// The server is alive, so that nobody reads its log.
TEST_F(ClientAddTest, AnAdditionIsNotRepeatedWhereItsRegionHasMovedTo) {
  ASSERT_TRUE(add(100));
  const Result<RowAddResult> added = add_and_move(5, 1, [this] { hbase_.forget_nonces(); });
  EXPECT_EQ(hbase_.row_text("t", "r"), counter(105));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::kUnavailable);
  EXPECT_THAT(added.error().message, HasSubstr("may have been counted"));
  EXPECT_TRUE(add(1));  // as before
  EXPECT_EQ(hbase_.row_text("t", "r"), counter(106));
}

TEST_F(ClientAddTest, AnAdditionOfADeadServerCountsOnce) {
  ASSERT_TRUE(add(100));
  for (const bool said : {true, false}) {
    said_ = said;
    const Result<RowAddResult> added = add_and_move(5, 1, [this] { hbase_.cut(1, true); });
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(added->outcome, AddOutcome::kAdded);
    EXPECT_EQ(hbase_.row_text("t", "r"), counter(said ? 105 : 110));
    hbase_.cut(1);
    hbase_.move_region("t", "r", 1);
  }
}

// The second request undoes the first, whose sum does not fit.
TEST_F(ClientAddTest, AnAdditionIsUndoneOnce) {
  ASSERT_TRUE(add(INT64_MAX));
  const Result<RowAddResult> moved = add_and_move(2, 2, [this] { hbase_.forget_nonces(); });
  EXPECT_FALSE(moved);
  EXPECT_EQ(hbase_.row_text("t", "r"), counter(INT64_MAX));

  hbase_.move_region("t", "r", 1);
  said_ = false;
  const Result<RowAddResult> dead = add_and_move(2, 2, [this] { hbase_.cut(1, true); });
  ASSERT_TRUE(dead) << dead.error().message;
  EXPECT_EQ(dead->outcome, AddOutcome::kOverflow);
  EXPECT_EQ(hbase_.row_text("t", "r"), counter(INT64_MAX));
}

}  // namespace
}  // namespace halite::storage::hbase
