// Counters and writes under a condition when answers get lost.
#include <gmock/gmock.h>

#include "tests/support/soon.h"
#include "tests/unit/storage/backends/hbase/client_world.h"

namespace halite::storage::hbase {
namespace {

using test::FakeCall;
using test::FakeReaction;
using test::run_task;

const CellAddress kCell = {.row = "r", .family = "f", .qualifier = "q"};

class ClientCellTest : public ClientTest {
 protected:
  ClientCellTest() { options_.call_ms_max = 300; }  // so long waits who gets no answer
  void SetUp() override { hbase_.add_table("t"); }

  Result<CasOutcome> check_and_put(std::optional<Bytes> expected, Bytes value) {
    return run_task(client().check_and_put("t", {.cell = kCell,
                                                 .expected = std::move(expected),
                                                 .value = std::move(value),
                                                 .time = ++time_}));
  }

  // To two columns of a row.
  Result<RowAddResult> add(std::int64_t delta, const Bytes& once) {
    std::vector<RowAdd> adds(1);
    adds[0] = {.row = "r", .deltas = {{"f", "y", -delta}, {"f", "x", delta}}, .once = {}};
    if (!once.empty()) adds[0].once = {"r", "m", once};
    TRY(std::vector<RowAddResult> added, run_task(client().add("t", std::move(adds))));
    return std::move(added.front());
  }

  TimestampMs time_ = kTime;
};

TEST_F(ClientCellTest, CountersCountOnceWhateverGetsLost) {
  std::int64_t sum = 0;
  for (const FakeReaction::What what :
       {FakeReaction::kAnswer, FakeReaction::kCloseBefore, FakeReaction::kCloseAfter,
        FakeReaction::kSwallow, FakeReaction::kIgnore}) {
    react_once("Mutate", {.what = what});
    const Result<IncrementResult> counted = run_task(client().increment("t", kCell, 5));
    ASSERT_TRUE(counted) << counted.error().message;
    EXPECT_EQ(counted->sum, sum += 5) << what;
  }
  EXPECT_EQ(run_task(client().increment("t", kCell, -7)).value().sum, sum - 7);
}

// As of a region whose server died after it had counted: the next one knows of the operation from
// the log, but not of the sum.
TEST_F(ClientCellTest, ACounterWhoseSumIsNotSaidIsCountedAgain) {
  react_once("Mutate", {.what = FakeReaction::kSayNothing});
  const Result<IncrementResult> counted = run_task(client().increment("t", kCell, 5));
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->sum, 10);
  hbase_.script([](const FakeCall&) { return FakeReaction{.what = FakeReaction::kSayNothing}; });
  EXPECT_EQ(run_task(client().increment("t", kCell, 5)).error().code, Errc::kUnavailable);
}

TEST_F(ClientCellTest, CountersOfARowCountOnceWhateverGetsLost) {
  std::uint64_t sum = 0;
  for (const bool marked : {true, false}) {
    for (const FakeReaction::What what :
         {FakeReaction::kAnswer, FakeReaction::kCloseBefore, FakeReaction::kCloseAfter,
          FakeReaction::kSwallow, FakeReaction::kIgnore}) {
      const Bytes mark = marked ? "mark" + std::to_string(what) : "";
      react_once("Multi", {.what = what});
      const Result<RowAddResult> added = add(5, mark);
      ASSERT_TRUE(added) << added.error().message;
      EXPECT_EQ(added->outcome, AddOutcome::kAdded) << mark << what;
      sum += 5;
      const std::string counters = "f:x=" + number(sum) + ",f:y=" + number(0 - sum);
      EXPECT_TRUE(hbase_.row_text("t", "r").starts_with(counters)) << mark << what;
      if (!marked) continue;
      // Another call, whose answer gets lost too, is not told that it was applied.
      react_once("Multi", {.what = what});
      EXPECT_EQ(add(5, mark).value().outcome, AddOutcome::kRepeated);
      EXPECT_TRUE(hbase_.row_text("t", "r").starts_with(counters)) << mark << what;
    }
  }
}

TEST_F(ClientCellTest, RowsAreAddedToTogetherAndRefusedByThemselves) {
  using enum AddOutcome;
  ASSERT_TRUE(check_and_put(std::nullopt, "no counter"));
  std::vector<RowAdd> adds;
  for (const Bytes& row : {Bytes("a"), Bytes("r"), Bytes("z")}) {
    adds.push_back({.row = row, .deltas = {{"f", "q", 3}}, .once = {}});
  }
  int calls = 0;
  hbase_.script([&calls](const FakeCall& call) {
    if (call.method == "Multi" || call.method == "Mutate") ++calls;
    return FakeReaction{};
  });
  const auto added = run_task(client().add("t", std::move(adds)));
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->at(0).outcome, kAdded);
  EXPECT_EQ(added->at(1).outcome, kNoCounter);
  EXPECT_EQ(added->at(2).outcome, kAdded);
  EXPECT_EQ(added->at(2).counters.at(0).value, number(3));
  EXPECT_EQ(hbase_.row_text("t", "r"), "f:q=no counter");
  EXPECT_EQ(calls, 3) << "the server would make one durable after the other";
}

TEST_F(ClientCellTest, AWrappedSumIsUndoneWhateverGetsLost) {
  ASSERT_TRUE(add(INT64_MAX, ""));
  const std::string before = hbase_.row_text("t", "r");
  for (const Bytes& mark : {Bytes("mark"), Bytes()}) {
    for (const FakeReaction::What what :
         {FakeReaction::kAnswer, FakeReaction::kCloseAfter, FakeReaction::kSwallow}) {
      for (const int at : {1, 2}) {  // the addition, or what undoes it
        hbase_.script([&, calls = 0](const FakeCall& call) mutable -> FakeReaction {
          const bool it = call.method == "Multi" || call.method == "Mutate";
          return it && ++calls == at ? FakeReaction{.what = what} : FakeReaction{};
        });
        EXPECT_EQ(add(2, mark).value().outcome, AddOutcome::kOverflow) << mark << what << at;
        EXPECT_EQ(hbase_.row_text("t", "r"), before) << mark << what << at;
      }
    }
  }
}

TEST_F(ClientCellTest, WhatIsAddedToACellIsAddedOnceWhateverGetsLost) {
  std::string all;
  for (const FakeReaction::What what :
       {FakeReaction::kAnswer, FakeReaction::kCloseBefore, FakeReaction::kCloseAfter,
        FakeReaction::kSwallow, FakeReaction::kIgnore}) {
    react_once("Multi", {.what = what});
    std::vector<CellAppend> appends(2);
    appends[0] = {.cell = kCell, .value = "ab", .time = kTime};
    appends[1] = {
        .cell = {.row = "s", .family = "f", .qualifier = "q"}, .value = "c", .time = kTime};
    const Result<void> added = run_task(client().append("t", std::move(appends)));
    ASSERT_TRUE(added) << added.error().message;
    all += "ab";
    EXPECT_EQ(hbase_.row_text("t", "r"), "f:q=" + all) << what;
    EXPECT_EQ(hbase_.row_text("t", "s"), "f:q=" + std::string(all.size() / 2, 'c')) << what;
  }
}

TEST_F(ClientCellTest, ARowIsChangedOnlyWhereACellIsAsExpected) {
  const auto change = [this](Bytes expected, std::vector<Cell> puts, bool deletes) {
    CheckAndMutate wanted{
        .family = "f", .qualifier = "q", .expected = std::move(expected), .mutation = {}};
    wanted.mutation.row = "r";
    wanted.mutation.puts = std::move(puts);
    if (deletes) wanted.mutation.deletes = {{DeleteKind::kVersions, "f", "q", kTime}};
    return run_task(client().check_and_mutate("t", std::move(wanted)));
  };
  const auto fill = [this] {
    RowMutation before = put("r", "old");
    before.puts.front().time = ++time_;
    ASSERT_TRUE(run_task(client().mutate("t", {std::move(before)})));
  };
  ASSERT_TRUE(run_task(client().mutate("t", {put("r", "old")})));
  EXPECT_EQ(change("other", {}, true), CasOutcome::kRefused);
  EXPECT_EQ(change("old", {{"f", "s", "kept", kTime}}, true), CasOutcome::kApplied);
  EXPECT_EQ(hbase_.row_text("t", "r"), "f:s=kept");
  EXPECT_EQ(change("old", {}, true), CasOutcome::kRefused);
  EXPECT_EQ(change("", {}, true).error().code, Errc::kInvalidArgument);
  for (const FakeReaction::What what : {FakeReaction::kCloseBefore, FakeReaction::kCloseAfter,
                                        FakeReaction::kSwallow, FakeReaction::kIgnore}) {
    fill();
    react_once("Multi", {.what = what});
    const auto outcome = change("old", {{"f", "q", "new", ++time_}}, false);
    const bool done_unseen = what == FakeReaction::kCloseAfter || what == FakeReaction::kSwallow;
    EXPECT_EQ(outcome, done_unseen ? CasOutcome::kUnknown : CasOutcome::kApplied) << what;
    EXPECT_EQ(hbase_.row_text("t", "r"), "f:q=new,f:s=kept") << what;
  }
  fill();
  hbase_.script([moved = false](const FakeCall& call) mutable -> FakeReaction {
    if (moved || call.method != "Multi") return {};
    moved = true;
    return {.what = FakeReaction::kThrowInside, .exception = "NotServingRegionException"};
  });
  EXPECT_EQ(change("old", {{"f", "q", "new", ++time_}}, false), CasOutcome::kApplied);
}

TEST_F(ClientCellTest, WhatIsTooLargeToBeAddedIsRefused) {
  std::vector<CellAppend> appends(1);
  appends[0] = {.cell = kCell, .value = Bytes(options_.value_bytes_max + 1, 'x'), .time = kTime};
  const Result<void> refused = run_task(client().append("t", std::move(appends)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
}

TEST_F(ClientCellTest, ACellThatIsNoCounterIsRefused) {
  ASSERT_TRUE(run_task(client().mutate("t", {put("r", "no counter")})));
  const Result<IncrementResult> refused = run_task(client().increment("t", kCell, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
}

TEST_F(ClientCellTest, AConditionHoldsOrNot) {
  options_.call_ms_max = 10'000;  // an answer that is late on a busy machine would be a lost one
  EXPECT_EQ(check_and_put("absent", "v").value(), CasOutcome::kRefused);
  EXPECT_EQ(check_and_put({}, "one").value(), CasOutcome::kApplied);
  EXPECT_EQ(check_and_put({}, "two").value(), CasOutcome::kRefused);
  EXPECT_EQ(check_and_put("one", "two").value(), CasOutcome::kApplied);
  EXPECT_EQ(hbase_.row_text("t", "r"), "f:q=two");
}

TEST_F(ClientCellTest, AWriteWhoseAnswerWasLostIsFoundAgain) {
  Bytes last;
  for (const FakeReaction::What what : {FakeReaction::kCloseAfter, FakeReaction::kSwallow,
                                        FakeReaction::kCloseBefore, FakeReaction::kIgnore}) {
    react_once("Mutate", {.what = what});
    const Bytes next = "v" + std::to_string(what);
    const std::optional<Bytes> expected = last.empty() ? std::nullopt : std::optional(last);
    EXPECT_EQ(check_and_put(expected, next).value(), CasOutcome::kApplied) << what;
    EXPECT_EQ(hbase_.row_text("t", "r"), "f:q=" + next);
    last = next;
  }
}

TEST_F(ClientCellTest, AnAnswerLostToAnotherWriterIsUnknown) {
  ASSERT_TRUE(run_task(client().mutate("t", {put("r", "others")})));
  for (const FakeReaction::What what : {FakeReaction::kCloseAfter, FakeReaction::kCloseBefore}) {
    react_once("Mutate", {.what = what});
    EXPECT_EQ(check_and_put({}, "ours").value(), CasOutcome::kUnknown) << what;
  }
  EXPECT_EQ(hbase_.row_text("t", "r"), "f:q=others");
}

TEST_F(ClientCellTest, AnswersThatAreAllLostAreUnknown) {
  options_.operation_ms_max = 200;
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    return {.what = call.method == "Mutate" ? FakeReaction::kCloseAfter : FakeReaction::kAnswer};
  });
  std::optional<Result<CasOutcome>> outcome;
  const auto write = [&] {
    outcome = check_and_put({}, "ours");
    return hbase_.calls("Mutate") > 0;  // a busy machine may not come so far in time
  };
  ASSERT_TRUE(test::soon(write));
  ASSERT_TRUE(*outcome) << outcome->error().message;
  EXPECT_EQ(**outcome, CasOutcome::kUnknown);
}

}  // namespace
}  // namespace halite::storage::hbase
