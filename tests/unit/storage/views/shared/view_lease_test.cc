// Which of several servers holds the lease of the views. The memory store stands in for HBase.
#include "storage/views/shared/view_lease.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/views/shared/leased_store.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr std::int64_t kRenewMs = ViewLease::kRenewMs;
const TableSpec kSpec = {.name = "halite-views", .families = {{.name = "v"}}, .split_keys = {}};

class ViewLeaseTest : public testing::Test {
 protected:
  std::unique_ptr<ViewLease> candidate(char id, const Clock& clock) {
    return std::make_unique<ViewLease>(table_, Bytes(ViewLease::kIdBytes, id),
                                       std::string("host-") + id, clock);
  }
  std::unique_ptr<ViewLease> candidate(char id) { return candidate(id, clock_); }

  static void step(ViewLease& lease) {
    const Result<void> stepped = run_task(lease.step());
    ASSERT_TRUE(stepped) << stepped.error().message;
  }

  FakeClock clock_{1'700'000'000'000};
  MemoryStore store_{clock_};
  std::shared_ptr<Table> table_ = run_task(store_.open_table(kSpec)).value();
};

TEST_F(ViewLeaseTest, TheFirstTakesItAndTheSecondSeesWhoHoldsIt) {
  const auto a = candidate('a');
  const auto b = candidate('b');
  EXPECT_EQ(a->term(), 0U);
  step(*a);
  step(*b);
  EXPECT_EQ(a->term(), 1U);
  EXPECT_TRUE(a->check());
  EXPECT_EQ(b->term(), 0U);
  ASSERT_FALSE(b->check());
  EXPECT_EQ(b->check().error().code, Errc::kConflict);
  EXPECT_EQ(b->holder(), "host-a");
}

TEST_F(ViewLeaseTest, IsKeptWhileItIsRenewed) {
  const auto a = candidate('a');
  const auto b = candidate('b');
  for (int i = 0; i < 100; ++i) {
    step(*a);
    step(*b);
    EXPECT_EQ(a->term(), 1U);
    EXPECT_EQ(b->term(), 0U);
    clock_.advance(kRenewMs);
  }
}

TEST_F(ViewLeaseTest, IsTakenWhenItIsNotRenewedForItsTime) {
  const auto a = candidate('a');
  const auto b = candidate('b');
  step(*a);
  step(*b);
  clock_.advance(ViewLease::kExpiresMs - 1);
  step(*b);
  EXPECT_EQ(b->term(), 0U);
  clock_.advance(1);
  step(*b);
  EXPECT_EQ(b->term(), 1U);
  EXPECT_EQ(b->holder(), "host-b");
}

// Long before another server can take it.
TEST_F(ViewLeaseTest, IsNotCertainSomeTimeAfterTheLastRenewal) {
  const auto a = candidate('a');
  step(*a);
  clock_.advance(ViewLease::kCertainMs - 1);
  EXPECT_EQ(a->term(), 1U);
  clock_.advance(1);
  EXPECT_EQ(a->term(), 0U);
  step(*a);  // nobody took it
  EXPECT_EQ(a->term(), 1U);
}

TEST_F(ViewLeaseTest, TheFormerHolderLearnsThatItLostIt) {
  const auto a = candidate('a');
  const auto b = candidate('b');
  step(*a);
  step(*b);
  clock_.advance(ViewLease::kExpiresMs);
  step(*b);
  step(*a);
  EXPECT_EQ(a->term(), 0U);
  EXPECT_EQ(a->holder(), "host-b");
  clock_.advance(kRenewMs);
  step(*b);
  EXPECT_EQ(b->term(), 1U);
  // And takes it again, for another term.
  step(*a);
  clock_.advance(ViewLease::kExpiresMs);
  step(*a);
  EXPECT_EQ(a->term(), 2U);
}

// The clocks of two servers differ by hours, and one of them is set back.
TEST_F(ViewLeaseTest, ComparesNoClocksOfTwoServers) {
  FakeClock late(clock_.now_ms() - 3 * 3'600'000);
  const auto a = candidate('a');
  const auto b = candidate('b', late);
  for (int i = 0; i < 10; ++i) {
    step(*a);
    step(*b);
    EXPECT_EQ(b->term(), 0U);
    clock_.advance(kRenewMs);
    late.advance(kRenewMs);
  }
  late.advance(ViewLease::kExpiresMs);
  step(*b);
  EXPECT_EQ(b->term(), 1U);
}

TEST_F(ViewLeaseTest, AReleasedLeaseIsTakenAtOnce) {
  const auto a = candidate('a');
  const auto b = candidate('b');
  step(*a);
  step(*b);
  ASSERT_TRUE(run_task(a->release()));
  EXPECT_EQ(a->term(), 0U);
  step(*b);
  EXPECT_EQ(b->term(), 1U);
  ASSERT_TRUE(run_task(a->release()));  // not its own
  clock_.advance(kRenewMs);
  step(*b);
  EXPECT_EQ(b->term(), 1U);
}

TEST_F(ViewLeaseTest, OfTwoThatTakeItAtOnceOneGetsIt) {
  const auto gone = candidate('x');
  step(*gone);
  const auto a = candidate('a');
  const auto b = candidate('b');
  step(*a);
  step(*b);
  clock_.advance(ViewLease::kExpiresMs);
  std::vector<Task<void>> steps;
  steps.push_back(a->step());
  steps.push_back(b->step());
  for (const Result<void>& stepped : test::run_tasks(std::move(steps), 2)) ASSERT_TRUE(stepped);
  EXPECT_EQ(a->term() + b->term(), 1U);
}

TEST_F(ViewLeaseTest, ADamagedRowIsAnError) {
  std::vector<RowWrite> writes(1);
  writes[0].row = "lease";
  writes[0].puts.push_back({{0, {}}, "short", 0});
  ASSERT_TRUE(run_task(table_->write(std::move(writes))));
  const Result<void> stepped = run_task(candidate('a')->step());
  ASSERT_FALSE(stepped);
  EXPECT_EQ(stepped.error().code, Errc::kCorruption);
}

TEST_F(ViewLeaseTest, ALeasedStoreReadsAlwaysAndWritesOnlyWithTheLease) {
  const auto a = candidate('a');
  LeasedStore leased(store_, *a);
  const auto table = run_task(leased.open_table(kSpec)).value();
  const auto write = [&] {
    std::vector<RowWrite> writes(1);
    writes[0].row = "row";
    writes[0].puts.push_back({{0, "q"}, "value", 0});
    return run_task(table->write(std::move(writes)));
  };
  const Result<void> refused = write();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kConflict);
  step(*a);
  EXPECT_TRUE(write());
  clock_.advance(ViewLease::kCertainMs);
  EXPECT_FALSE(write());
  std::vector<RowRead> reads(1);
  reads[0] = {"row", 0, {}};
  EXPECT_EQ(run_task(table->read(std::move(reads))).value().front().cells.size(), 1U);
}

}  // namespace
}  // namespace halite::storage
