// Writes and reads of rows against region servers that misbehave.
#include <atomic>
#include <mutex>
#include <thread>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>

#include "tests/unit/storage/backends/hbase/client_world.h"

namespace halite::storage::hbase {
namespace {

using test::FakeCall;
using test::FakeReaction;
using test::run_task;
using test::run_tasks;
using testing::HasSubstr;

constexpr std::size_t kWrittenRows = 300;

class ClientRowsTest : public ClientTest {
 protected:
  void SetUp() override {
    hbase_.add_table("t", {"row0100", "row0200"});
    hbase_.move_region("t", "row0100", 1);
  }

  void expect_all_rows() {
    std::vector<RowGet> reads;
    for (std::size_t i = 0; i < kWrittenRows; ++i)
      reads.push_back({.row = row_key(i), .columns = {}});
    const Result<std::vector<Row>> got = run_task(client().get("t", reads));
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->size(), kWrittenRows);
    for (std::size_t i = 0; i < kWrittenRows; ++i) {
      EXPECT_EQ((*got)[i].key, row_key(i));
      ASSERT_EQ((*got)[i].cells.size(), 1U) << i;
      EXPECT_EQ((*got)[i].cells[0].value, std::to_string(i));
      EXPECT_EQ((*got)[i].cells[0].time, kTime);
    }
  }
};

TEST_F(ClientRowsTest, OneRequestAServer) {
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  EXPECT_EQ(hbase_.calls("Multi"), 2U);
  expect_all_rows();
  EXPECT_EQ(hbase_.calls("Multi"), 4U);
}

TEST_F(ClientRowsTest, LongBatchesAreCut) {
  options_.batch_actions_max = 7;
  options_.server_batches_max = 2;
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  EXPECT_EQ(hbase_.calls("Multi"), 29U + 15U);  // 200 rows at one server, 100 at the other
  expect_all_rows();
}

TEST_F(ClientRowsTest, WideBatchesAreCut) {
  options_.request_bytes_max = 1000;
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  EXPECT_GT(hbase_.calls("Multi"), 10U);
  expect_all_rows();
}

TEST_F(ClientRowsTest, WhatFailedIsWrittenAgain) {
  for (const FakeReaction::What what :
       {FakeReaction::kThrowInside, FakeReaction::kThrowOnAction, FakeReaction::kThrow}) {
    for (const char* name : {"NotServingRegionException", "RegionTooBusyException",
                             "CallQueueTooBigException", "exceptions.RegionOpeningException",
                             "regionserver.RegionServerStoppedException", "SomethingNew"}) {
      react_once("Multi", {.what = what, .exception = name});
      EXPECT_TRUE(run_task(client().mutate("t", rows(kWrittenRows)))) << name;
    }
  }
  expect_all_rows();
}

TEST_F(ClientRowsTest, OneRowThatFailedIsWrittenAgainAlone) {
  std::mutex mutex;
  std::vector<std::size_t> actions;
  hbase_.script([&](const FakeCall& call) -> FakeReaction {
    if (call.method != "Multi") return {};
    const std::lock_guard lock(mutex);
    actions.push_back(call.actions);
    if (call.number > 1) return {};
    return {.what = FakeReaction::kThrowOnAction, .exception = "RegionTooBusyException"};
  });
  ASSERT_TRUE(run_task(client().mutate("t", rows(3))));
  EXPECT_EQ(actions, (std::vector<std::size_t>{3, 1}));
}

TEST_F(ClientRowsTest, ABusyRegionIsWaitedForWithoutAskingWhereItIs) {
  ASSERT_TRUE(run_task(client().mutate("t", rows(1))));
  const std::size_t lookups = hbase_.calls("Scan");
  const std::size_t before = hbase_.calls("Multi");
  hbase_.script([before](const FakeCall& call) -> FakeReaction {
    if (call.method != "Multi" || call.number >= before + 4) return {};
    return {.what = FakeReaction::kThrowInside, .exception = "RegionTooBusyException"};
  });
  ASSERT_TRUE(run_task(client().mutate("t", rows(2))));
  EXPECT_EQ(hbase_.calls("Multi"), before + 4);
  EXPECT_EQ(hbase_.calls("Scan"), lookups);
}

TEST_F(ClientRowsTest, LostConnectionsAndAnswersAreMadeGood) {
  options_.call_ms_max = 300;
  for (const FakeReaction::What what : {FakeReaction::kCloseBefore, FakeReaction::kCloseAfter,
                                        FakeReaction::kSwallow, FakeReaction::kIgnore}) {
    react_once("Multi", {.what = what});
    EXPECT_TRUE(run_task(client().mutate("t", rows(kWrittenRows)))) << what;
  }
  expect_all_rows();
}

TEST_F(ClientRowsTest, WhatHBaseRefusesIsNotTriedAgain) {
  react_once("Multi", {.what = FakeReaction::kThrowOnAction,
                       .exception = "regionserver.NoSuchColumnFamilyException",
                       .text = "no family x"});
  const Result<void> refused = run_task(client().mutate("t", rows(1)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("no family x"));
  EXPECT_EQ(hbase_.calls("Multi"), 1U);
}

// The region may be elsewhere, or no region takes the row: the class is the same.
TEST_F(ClientRowsTest, WhatFailsASanityCheckIsLookedUpAgainAndGivenUpInTheEnd) {
  const auto failing = [](std::size_t times) {
    return [times](const FakeCall& call) -> FakeReaction {
      if (call.method != "Multi" || call.number > times) return {};
      return {.what = FakeReaction::kThrowOnAction,
              .exception = "exceptions.FailedSanityCheckException",
              .text = "words"};
    };
  };
  hbase_.script(failing(2));
  EXPECT_TRUE(run_task(client().mutate("t", rows(1))));
  EXPECT_EQ(hbase_.calls("Multi"), 3U);
  hbase_.script(failing(1000));
  const Result<void> refused = run_task(client().mutate("t", rows(1)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("words"));
  EXPECT_EQ(hbase_.calls("Multi"), 6U);
}

// A class that blames the row when it comes for good tells nothing when time is up before that.
TEST_F(ClientRowsTest, WhatFailsASanityCheckUntilTheDeadlineMayBeSentAgain) {
  options_.operation_ms_max = 20'000;
  options_.pause_ms_min = 60'000;
  options_.pause_ms_max = 60'000;
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    if (call.method != "Multi") return {};
    return {.what = FakeReaction::kThrowOnAction,
            .exception = "exceptions.FailedSanityCheckException",
            .text = "words"};
  });
  const Result<void> late = run_task(client().mutate("t", rows(1)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kUnavailable);
  EXPECT_THAT(late.error().message, HasSubstr("not done within 20000 ms"));
  EXPECT_EQ(hbase_.calls("Multi"), 1U);
}

TEST_F(ClientRowsTest, RegionsThatMoveAreFollowed) {
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  hbase_.move_region("t", "row0000", 1);
  hbase_.move_region("t", "row0100", 0);
  expect_all_rows();
  hbase_.split_region("t", "row0250");
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  expect_all_rows();
}

TEST_F(ClientRowsTest, ARegionThatNobodyServesYetIsWaitedFor) {
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  hbase_.move_region("t", "row0000", 1, false);  // hbase:meta has not heard of it
  std::atomic<int> lookups = 0;
  hbase_.script([&](const FakeCall& call) -> FakeReaction {
    if (call.table == "hbase:meta") ++lookups;
    return {};
  });
  std::thread meta([&] {
    while (lookups < 3) std::this_thread::yield();
    hbase_.tell_moves();
  });
  EXPECT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  meta.join();
  expect_all_rows();
}

TEST_F(ClientRowsTest, AMoveThatIsToldNeedsNoLookUp) {
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  const std::size_t lookups = hbase_.calls("Scan");
  hbase_.move_region("t", "row0100", 0, false);  // hbase:meta does not know
  hbase_.script([port = hbase_.endpoint(0).port](const FakeCall& call) -> FakeReaction {
    if (call.server != 1 || call.method != "Multi") return {};
    return {.what = FakeReaction::kThrowInside,
            .exception = "exceptions.RegionMovedException",
            .text = "Region moved to: hostname=127.0.0.1 port=" + std::to_string(port) +
                    " startCode=1. As of locationSeqNum=99."};
  });
  expect_all_rows();
  EXPECT_EQ(hbase_.calls("Scan"), lookups);
}

TEST_F(ClientRowsTest, ManyWhoAskAtOnceShareALookUp) {
  std::vector<Task<std::vector<Row>>> tasks;
  for (std::size_t i = 0; i < kWrittenRows; ++i) {
    std::vector<RowGet> reads = {{.row = row_key(i), .columns = {}}};
    tasks.push_back(client().get("t", std::move(reads)));
  }
  for (const auto& got : run_tasks(std::move(tasks), 4)) {
    EXPECT_TRUE(got) << got.error().message;
  }
  EXPECT_EQ(hbase_.calls("Scan"), 1U);
}

TEST_F(ClientRowsTest, ATableThatIsNotThereIsToldOnce) {
  const auto missing = run_task(client().get("absent", {{.row = "r", .columns = {}}}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::kUnavailable);
  EXPECT_THAT(missing.error().message, HasSubstr("\"absent\""));
  EXPECT_EQ(hbase_.calls("Scan"), 1U);
}

// Who sent a point is not to blame for what stands between us and the table: with another code it
// would be refused for good, and lost.
TEST_F(ClientRowsTest, ATableThatIsOutOfUseIsUnavailable) {
  const auto expect_away = [this](const std::string& text) {
    const CellAddress cell{"row0000", "f", "q"};
    const auto scanner = client().scan("t", {});
    const auto one_row = [](CellAddress at) {
      return std::vector<RowGet>{{.row = at.row, .columns = {}}};
    };
    for (const Error& error :
         {run_task(client().mutate("t", rows(2))).error(),
          run_task(client().append("t", {{.cell = cell, .value = "v"}})).error(),
          run_task(client().get("t", one_row(cell))).error(),
          run_task(client().increment("t", cell, 1)).error(),
          run_task(client().check_and_put("t", {cell, {}, "v", kTime})).error(),
          run_task(scanner->next()).error()}) {
      EXPECT_EQ(error.code, Errc::kUnavailable) << error.message;
      EXPECT_THAT(error.message, HasSubstr(text));
    }
  };
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  hbase_.set_disabled("t", true);
  expect_away("table \"t\" is disabled");
  hbase_.set_disabled("t", false);
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    if (call.table != "t") return {};
    return {.what = FakeReaction::kThrow,
            .exception = "security.AccessDeniedException",
            .text = "no right to write"};
  });
  expect_away("no right to write");
  hbase_.script({});
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  hbase_.drop_table("t");
  expect_away("no table \"t\"");
}

// A region that is nowhere for long keeps only its own rows.
TEST_F(ClientRowsTest, RowsOfOtherRegionsDoNotWaitForOneThatIsNowhere) {
  options_.operation_ms_max = 300;
  hbase_.add_table("u", {"row0100", "row0200", "row0300"});
  ASSERT_TRUE(run_task(client().mutate("u", rows(400))));
  hbase_.hide_region("u", "row0000");
  react_once("Multi", {.what = FakeReaction::kCloseBefore});  // and all of the server is forgotten
  std::vector<RowMutation> again;
  for (std::size_t i = 0; i < 400; ++i) again.push_back(put(row_key(i), "again"));
  const Result<void> written = run_task(client().mutate("u", std::move(again)));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::kUnavailable);
  for (std::size_t i = 0; i < 400; ++i) {
    const std::string expected = i < 100 ? std::to_string(i) : "again";
    ASSERT_EQ(hbase_.row_text("u", row_key(i)), "f:q=" + expected);
  }
}

TEST_F(ClientRowsTest, WhatHBaseWouldNotTakeIsNotSent) {
  const auto code = [&](RowMutation row) {
    return run_task(client().mutate("t", {std::move(row)})).error().code;
  };
  EXPECT_EQ(code(put("", "v")), Errc::kInvalidArgument);
  EXPECT_EQ(code(put(Bytes(32768, 'r'), "v")), Errc::kInvalidArgument);
  EXPECT_EQ(code({.row = "r", .puts = {{"", "q", "v", 1}}, .deletes = {}}), Errc::kInvalidArgument);
  EXPECT_EQ(code({.row = "r", .puts = {{"f", "q", "v", -1}}, .deletes = {}}),
            Errc::kInvalidArgument);
  EXPECT_EQ(code(put("r", Bytes(10 << 20, 'v'))), Errc::kTooLarge);
  EXPECT_EQ(hbase_.calls("Multi"), 0U);
  EXPECT_TRUE(run_task(client().mutate("t", {put(Bytes(32767, 'r'), "v")})));
  EXPECT_TRUE(run_task(client().mutate("t", {})));
}

Task<void> write_then_wake(Client& client, test::FakeHBase& hbase, RowMutation row) {
  for (int i = 0; i < 20; ++i) {
    std::vector<RowMutation> rows = {row};
    Task<void> writing = client.mutate("t", std::move(rows));
    CO_TRY_VOID(co_await std::move(writing));
  }
  hbase.set_deaf(1, false);
  co_return Result<void>();
}

TEST_F(ClientRowsTest, OneSilentServerHoldsUpNobodyElse) {
  options_.call_ms_max = 300;
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  hbase_.set_deaf(1, true);
  std::vector<Task<void>> tasks;
  tasks.push_back(client().mutate("t", {put("row0150", "150")}));
  tasks.push_back(write_then_wake(client(), hbase_, put("row0001", "1")));
  for (const Result<void>& done : run_tasks(std::move(tasks), 2)) {
    EXPECT_TRUE(done) << done.error().message;
  }
  expect_all_rows();
}

TEST_F(ClientRowsTest, AServerThatIsGoneIsSaid) {
  ASSERT_TRUE(run_task(client().mutate("t", rows(kWrittenRows))));
  EXPECT_TRUE(client().health());
  hbase_.cut(1, true);
  ClientOptions hasty = options_;
  hasty.operation_ms_max = 200;
  Client second(hasty, io_.executors(), registry_);
  const Result<void> failed = run_task(second.mutate("t", {put("row0150", "150")}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("127.0.0.1:"));
  EXPECT_TRUE(run_task(second.close()));
  hbase_.cut(1, false);
  expect_all_rows();
  EXPECT_TRUE(client().health());
}

TEST_F(ClientRowsTest, NobodyAtAllIsSaid) {
  ClientOptions hasty = options_;
  hasty.registry = {};
  hasty.quorum = {{.host = "127.0.0.1", .port = 1}};
  hasty.operation_ms_max = 50;
  Client lonely(hasty, io_.executors(), registry_);
  const Result<void> failed = run_task(lonely.mutate("t", {put("row0150", "150")}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("ZooKeeper 127.0.0.1:1"));
  EXPECT_FALSE(lonely.health());
  EXPECT_TRUE(run_task(lonely.close()));
}

Task<void> close_when_asked(Client& client, const test::FakeHBase& hbase, std::size_t calls) {
  while (hbase.calls("Multi") < calls) {
    auto later = boost::asio::post(boost::asio::use_awaitable);
    co_await std::move(later);
  }
  Task<void> closing = client.close();
  co_return co_await std::move(closing);
}

TEST_F(ClientRowsTest, ClosingEndsWhatIsUnderWay) {
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    return {.what = call.method == "Multi" ? FakeReaction::kIgnore : FakeReaction::kAnswer};
  });
  options_.call_ms_max = 60'000;
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 10; ++i) tasks.push_back(client().mutate("t", {put("row0001", "1")}));
  tasks.push_back(close_when_asked(client(), hbase_, options_.server_batches_max));
  const std::vector<Result<void>> outcomes = run_tasks(std::move(tasks), 2);
  for (std::size_t i = 0; i + 1 < outcomes.size(); ++i) {
    ASSERT_FALSE(outcomes[i]);
    EXPECT_EQ(outcomes[i].error().code, Errc::kUnavailable);
  }
  EXPECT_TRUE(outcomes.back());
}

}  // namespace
}  // namespace halite::storage::hbase
