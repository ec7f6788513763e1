// Which of several servers holds the lease of the views. The memory store stands in for HBase.
#include "storage/views/shared/view_lease.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/views/shared/leased_store.h"
#include "tests/support/forwarding_table.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr std::int64_t kRenewMs = ViewLease::kRenewMs;
const TableSpec kSpec = {.name = "halite-views", .families = {{.name = "v"}}, .split_keys = {}};

std::vector<RowWrite> one_row() {
  std::vector<RowWrite> writes(1);
  writes[0].row = "row";
  writes[0].puts.push_back({{0, "q"}, "value", 0});
  return writes;
}

// What happens in a HookedStore.
struct Hooks {
  std::function<void()> before_read;
  // What happens to the next compare-and-put, once.
  enum class Put : std::uint8_t {
    kAnswered,
    kAnswerLost,   // it is applied, and the outcome is not known
    kRequestLost,  // it is not applied, and the outcome is not known
    kDelayed,      // the same; `delayed` applies it later
    kFailed,
  };
  Put next_put = Put::kAnswered;
  std::function<Task<CasOutcome>()> delayed;
  WriteEnd end;  // of the last write
};

class HookedTable final : public test::ForwardingTable {
 public:
  HookedTable(std::shared_ptr<Table> inner, Hooks& hooks)
      : ForwardingTable(std::move(inner)), hooks_(hooks) {}

  Task<void> write(std::vector<RowWrite> rows) override {
    return write_until(std::move(rows), kNoWriteEnd);
  }
  Task<void> write_until(std::vector<RowWrite> rows, WriteEnd end) override {
    hooks_.end = end;
    return inner_->write(std::move(rows));
  }
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override {
    if (hooks_.before_read) hooks_.before_read();
    return inner_->read(std::move(reads));
  }
  Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                   Bytes value) override {
    const auto apply = [inner = inner_, row, column, expected, value] {
      return inner->compare_and_put(row, column, expected, value);
    };
    switch (std::exchange(hooks_.next_put, Hooks::Put::kAnswered)) {
      case Hooks::Put::kAnswered:
        break;
      case Hooks::Put::kAnswerLost:
        CO_TRY_VOID(co_await apply());
        co_return CasOutcome::kUnknown;
      case Hooks::Put::kDelayed:
        hooks_.delayed = apply;
        co_return CasOutcome::kUnknown;
      case Hooks::Put::kRequestLost:
        co_return CasOutcome::kUnknown;
      case Hooks::Put::kFailed:
        co_return fail(Errc::kUnavailable, "no region server");
    }
    co_return co_await apply();
  }

 private:
  Hooks& hooks_;
};

class HookedStore final : public WideColumnStore {
 public:
  explicit HookedStore(WideColumnStore& inner) : inner_(inner) {}

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override {
    CO_TRY(std::shared_ptr<Table> table, co_await inner_.open_table(std::move(spec)));
    co_return std::make_shared<HookedTable>(std::move(table), hooks);
  }
  Task<void> close() override { co_return Result<void>{}; }

  Hooks hooks;

 private:
  WideColumnStore& inner_;
};

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
  EXPECT_TRUE(a->may_write(1));
  EXPECT_EQ(b->term(), 0U);
  for (const std::uint64_t term : {0U, 1U}) {
    ASSERT_FALSE(b->may_write(term));
    EXPECT_EQ(b->may_write(term).error().code, Errc::kConflict);
  }
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
  step(*a);  // it is free again
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

TEST_F(ViewLeaseTest, ALeasedStoreReadsAlwaysAndWritesOnlyInItsTerm) {
  const auto a = candidate('a');
  const auto b = candidate('b');
  step(*a);
  LeasedStore leased(store_, *a, a->term());
  const auto table = run_task(leased.open_table(kSpec)).value();
  const auto write = [&] { return run_task(table->write(one_row())); };
  EXPECT_TRUE(write());
  step(*b);
  clock_.advance(ViewLease::kCertainMs);
  const Result<void> refused = write();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kConflict);
  step(*a);
  EXPECT_TRUE(write());  // still the same term
  step(*b);
  clock_.advance(ViewLease::kExpiresMs);
  step(*b);
  step(*a);
  ASSERT_TRUE(run_task(b->release()));
  step(*a);
  EXPECT_EQ(a->term(), 2U);
  EXPECT_FALSE(write());  // another server may have written
  std::vector<RowRead> reads(1);
  reads[0] = {"row", 0, {}};
  EXPECT_EQ(run_task(table->read(std::move(reads))).value().front().cells.size(), 1U);
}

// With any hbase.timeout_ms.
TEST_F(ViewLeaseTest, AWriteHasAnEndBeforeTheLeaseCanBeTaken) {
  const auto a = candidate('a');
  step(*a);
  HookedStore hooked(store_);
  LeasedStore leased(hooked, *a, a->term());
  const auto table = run_task(leased.open_table(kSpec)).value();
  const WriteEnd before = std::chrono::steady_clock::now();
  ASSERT_TRUE(run_task(table->write(one_row())));
  const std::chrono::milliseconds most(ViewLease::kExpiresMs - ViewLease::kCertainMs);
  EXPECT_GT(hooked.hooks.end, before);
  EXPECT_LT(hooked.hooks.end, before + most);
}

TEST_F(ViewLeaseTest, ALostAnswerIsReadBack) {
  HookedStore hooked(store_);
  ViewLease a(run_task(hooked.open_table(kSpec)).value(), Bytes(ViewLease::kIdBytes, 'a'), "host-a",
              clock_);
  hooked.hooks.next_put = Hooks::Put::kRequestLost;
  step(a);
  EXPECT_EQ(a.term(), 0U);
  hooked.hooks.next_put = Hooks::Put::kAnswerLost;
  step(a);
  EXPECT_EQ(a.term(), 1U);
  clock_.advance(ViewLease::kCertainMs - 1);
  hooked.hooks.next_put = Hooks::Put::kAnswerLost;
  step(a);
  clock_.advance(1);
  EXPECT_EQ(a.term(), 1U);  // it is renewed
}

TEST_F(ViewLeaseTest, ARenewalThatFailsChangesNothing) {
  HookedStore hooked(store_);
  ViewLease a(run_task(hooked.open_table(kSpec)).value(), Bytes(ViewLease::kIdBytes, 'a'), "host-a",
              clock_);
  step(a);
  clock_.advance(ViewLease::kCertainMs - 1);
  hooked.hooks.next_put = Hooks::Put::kFailed;
  const Result<void> failed = run_task(a.step());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kUnavailable);
  EXPECT_EQ(a.term(), 1U);
  clock_.advance(1);
  EXPECT_EQ(a.term(), 0U);
  step(a);  // it is still free
  EXPECT_EQ(a.term(), 1U);
}

TEST_F(ViewLeaseTest, ARenewalThatIsAppliedLateIsFollowed) {
  HookedStore hooked(store_);
  ViewLease a(run_task(hooked.open_table(kSpec)).value(), Bytes(ViewLease::kIdBytes, 'a'), "host-a",
              clock_);
  step(a);
  clock_.advance(kRenewMs);
  hooked.hooks.next_put = Hooks::Put::kDelayed;
  step(a);
  EXPECT_EQ(run_task(hooked.hooks.delayed()).value(), CasOutcome::kApplied);
  clock_.advance(kRenewMs);
  step(a);  // finds it, which is no renewal
  clock_.advance(ViewLease::kCertainMs - 2 * kRenewMs);
  EXPECT_EQ(a.term(), 0U);
  step(a);
  EXPECT_EQ(a.term(), 1U);
}

// The value that a slow read returns may be newer than the read's begin.
TEST_F(ViewLeaseTest, TheTimeOfASlowReadDoesNotCount) {
  const auto a = candidate('a');
  step(*a);
  HookedStore hooked(store_);
  ViewLease b(run_task(hooked.open_table(kSpec)).value(), Bytes(ViewLease::kIdBytes, 'b'), "host-b",
              clock_);
  hooked.hooks.before_read = [&] {
    clock_.advance(30'000);
    std::thread([&a] { step(*a); }).join();
  };
  step(b);
  hooked.hooks.before_read = nullptr;
  clock_.advance(ViewLease::kCertainMs - 1);
  step(b);
  EXPECT_EQ(a->term(), 1U);
  EXPECT_EQ(b.term(), 0U);
}

}  // namespace
}  // namespace halite::storage
