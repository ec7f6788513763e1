// The client against region servers that do as they are told.
#include "storage/hbase/client.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io_threads.h"
#include "tests/support/fake_region_server.h"
#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/support/soon.h"

namespace halite::storage::hbase {
namespace {

using test::FakeCall;
using test::FakeHBase;
using test::FakeReaction;
using test::run_task;
using test::run_tasks;

constexpr char kTable[] = "t";

class HBaseClient : public testing::Test {
 public:
  ~HBaseClient() override {
    if (client_) EXPECT_TRUE(run_task(client_->close()));
    threads_.join();
  }

 protected:
  HBaseClient() {
    options_.registry = {hbase_.endpoint(0)};
    options_.operation_ms_max = 60'000;  // nobody waits so long for a healthy client
    options_.pause_ms_min = 1;
    options_.overloaded_ms_min = 1;
    options_.seed = 1;
    hbase_.add_table(kTable, {"m"});
  }

  Client& client() {
    if (!client_) client_.emplace(options_, threads_.executors(), registry_);
    return *client_;
  }

  // The `number`th call of a method meets this; every other is answered.
  void once(std::string method, FakeReaction reaction, std::size_t number = 1) {
    hbase_.script([=](const FakeCall& call) {
      const bool meant =
          call.method == method && call.number == number && call.table != "hbase:meta";
      return meant ? reaction : FakeReaction();
    });
  }
  // As do all calls of that table by that method before the `number`th.
  void until(std::string method, FakeReaction reaction, std::size_t number) {
    hbase_.script([=](const FakeCall& call) {
      const bool meant =
          call.method == method && call.number < number && call.table != "hbase:meta";
      return meant ? reaction : FakeReaction();
    });
  }

  static std::vector<RowMutation> rows(const std::vector<Bytes>& keys) {
    std::vector<RowMutation> rows;
    for (const Bytes& key : keys) rows.push_back({key, {{"f", "q", "v", 5}}, {}});
    return rows;
  }
  Result<void> put(const std::vector<Bytes>& keys) {
    return run_task(client().mutate(kTable, rows(keys)));
  }
  Result<Counted> count() { return run_task(client().increment(kTable, {"row", "f", "n"}, 1)); }
  Result<CasOutcome> swap(std::optional<Bytes> expected, Bytes value) {
    return run_task(client().check_and_put(
        kTable, {{"row", "f", "q"}, std::move(expected), std::move(value), 7}));
  }

  double metric(const std::string& name) const { return test::metric_value(registry_, name); }

  FakeHBase hbase_{2};
  ClientOptions options_;
  IoThreads threads_{2};
  prometheus::Registry registry_;
  std::optional<Client> client_;
};

TEST_F(HBaseClient, WritesReadsAndScansOverRegions) {
  ASSERT_TRUE(put({"a", "b", "m", "z"}));
  EXPECT_EQ(hbase_.row_text(kTable, "m"), "f:q=v");
  const auto read = run_task(client().get(kTable, {{"z", {}}, {"nothing", {}}, {"a", {}}}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->at(0).cells.at(0).value, "v");
  EXPECT_TRUE(read->at(1).cells.empty());
  EXPECT_EQ(read->at(2).key, "a");
  hbase_.set_rows_per_answer(1);
  for (const bool reverse : {false, true}) {
    ScanRequest request;
    request.reverse = reverse;
    const auto scanner = client().scan(kTable, request);
    std::string keys;
    for (;;) {
      const auto batch = run_task(scanner->next());
      ASSERT_TRUE(batch) << batch.error().message;
      if (batch->empty()) break;
      for (const Row& row : *batch) keys += row.key;
    }
    EXPECT_EQ(keys, reverse ? "zmba" : "abmz");
  }
}

TEST_F(HBaseClient, RegionsAreLookedForAgainWhereTheyWent) {
  ASSERT_TRUE(put({"a"}));
  hbase_.move_region(kTable, "a", 1);
  ASSERT_TRUE(put({"a", "b"}));
  EXPECT_EQ(hbase_.row_count(kTable), 2U);
  EXPECT_EQ(count().value().sum, 1);
}

TEST_F(HBaseClient, ARegionThatNobodyServesYetIsWaitedFor) {
  ASSERT_TRUE(put({"a"}));
  hbase_.move_region(kTable, "a", 1, false);  // hbase:meta has not heard of it
  std::atomic<int> lookups = 0;
  hbase_.script([&](const FakeCall& call) {
    if (call.table == "hbase:meta") ++lookups;
    return FakeReaction();
  });
  std::thread meta([&] {
    while (lookups < 3) std::this_thread::yield();
    hbase_.tell_moves();
  });
  EXPECT_TRUE(put({"a", "b"}));
  meta.join();
  EXPECT_EQ(hbase_.row_count(kTable), 2U);
}

TEST_F(HBaseClient, RowsOfARegionThatWasSplitFindTheirDaughters) {
  ASSERT_TRUE(put({"a"}));
  hbase_.split_region(kTable, "c");
  ASSERT_TRUE(put({"a", "b", "c", "d", "z"}));
  EXPECT_EQ(hbase_.row_count(kTable), 5U);
}

TEST_F(HBaseClient, ABusyRegionIsWaitedForWithoutAskingWhereItIs) {
  ASSERT_TRUE(put({"a"}));
  const std::size_t lookups = hbase_.calls("Scan");
  const std::size_t before = hbase_.calls("Multi");
  until("Multi", {.what = FakeReaction::kThrowInside, .exception = "RegionTooBusyException"},
        before + 4);
  ASSERT_TRUE(put({"a", "b"}));
  EXPECT_EQ(hbase_.calls("Multi"), before + 4);
  EXPECT_EQ(hbase_.calls("Scan"), lookups);
}

TEST_F(HBaseClient, OneActionThatFailsIsTriedAgainAlone) {
  std::mutex mutex;
  std::vector<std::size_t> actions;
  hbase_.script([&](const FakeCall& call) -> FakeReaction {
    if (call.method != "Multi") return {};
    const std::lock_guard lock(mutex);
    actions.push_back(call.actions);
    if (call.number > 1) return {};
    return {.what = FakeReaction::kThrowOnAction, .exception = "RegionTooBusyException"};
  });
  ASSERT_TRUE(put({"a", "b", "c"}));
  EXPECT_EQ(actions, (std::vector<std::size_t>{3, 1}));
}

TEST_F(HBaseClient, WhatCannotHelpIsNotTriedAgain) {
  once("Multi", {.what = FakeReaction::kThrowInside,
                 .exception = "regionserver.NoSuchColumnFamilyException",
                 .text = "no family f"});
  const Result<void> refused = put({"a"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("no family f"));
  EXPECT_EQ(hbase_.calls("Multi"), 1U);
}

TEST_F(HBaseClient, AClosedConnectionIsMadeAnew) {
  ASSERT_TRUE(put({"a"}));
  const std::size_t connections = hbase_.connections();
  hbase_.cut(0);
  ASSERT_TRUE(put({"b"}));
  EXPECT_GT(hbase_.connections(), connections);
  once("Multi", {.what = FakeReaction::kCloseBefore}, hbase_.calls("Multi") + 1);
  ASSERT_TRUE(put({"c"}));
  once("Multi", {.what = FakeReaction::kCloseAfter}, hbase_.calls("Multi") + 1);
  ASSERT_TRUE(put({"d"}));
  EXPECT_EQ(hbase_.row_count(kTable), 4U);
}

TEST_F(HBaseClient, AnIncrementWhoseAnswerIsLostCountsOnce) {
  EXPECT_EQ(count().value().sum, 1);
  once("Mutate", {.what = FakeReaction::kCloseAfter}, 2);
  EXPECT_EQ(count().value().sum, 2);
  EXPECT_EQ(hbase_.calls("Mutate"), 3U);
  EXPECT_EQ(count().value().sum, 3);
}

TEST_F(HBaseClient, ACheckAndPutWhoseAnswerIsLostIsReadBack) {
  EXPECT_EQ(swap(std::nullopt, "1").value(), CasOutcome::kApplied);
  once("Mutate", {.what = FakeReaction::kCloseAfter}, 2);
  EXPECT_EQ(swap("1", "2").value(), CasOutcome::kApplied);
  once("Mutate", {.what = FakeReaction::kCloseBefore}, hbase_.calls("Mutate") + 1);
  EXPECT_EQ(swap("2", "3").value(), CasOutcome::kApplied);
  EXPECT_EQ(hbase_.row_text(kTable, "row"), "f:q=3");
  EXPECT_EQ(swap("2", "4").value(), CasOutcome::kRefused);
  once("Mutate", {.what = FakeReaction::kCloseBefore}, hbase_.calls("Mutate") + 1);
  // It may have been written, and something else after it.
  EXPECT_EQ(swap("2", "4").value(), CasOutcome::kUnknown);
  EXPECT_EQ(hbase_.row_text(kTable, "row"), "f:q=3");
}

TEST_F(HBaseClient, AnswersInAnyOrderFindTheirCalls) {
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    return {.delay_ms = call.method == "Mutate" && call.row < "row5" ? 30U : 0U};
  });
  std::vector<Task<Counted>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(client().increment(kTable, {"row" + std::to_string(i), "f", "n"}, 100 + i));
  }
  const auto sums = run_tasks(std::move(tasks), 2);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)].value().sum, 100 + i);
}

// It is for another time, not too long a request: kTimeout would blame who asked.
TEST_F(HBaseClient, ASilentServerEndsEveryCallAtTheDeadline) {
  options_.operation_ms_max = 300;
  options_.call_ms_max = 100;
  ASSERT_TRUE(test::soon([this] { return put({"a"}).has_value(); }));  // a busy machine is slower
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    return {.what = call.table == kTable ? FakeReaction::kIgnore : FakeReaction::kAnswer};
  });
  std::vector<std::optional<Error>> ends;
  const auto end = [&ends](const auto& outcome) {
    ends.push_back(outcome ? std::nullopt : std::optional(outcome.error()));
  };
  end(put({"b"}));
  end(run_task(client().get(kTable, {{.row = "a", .columns = {}}})));
  end(count());
  end(run_task(client().scan(kTable, {})->next()));
  for (const std::optional<Error>& error : ends) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Errc::kUnavailable) << error->message;
    EXPECT_THAT(error->message, testing::HasSubstr("did not answer within"));
  }
  hbase_.script(nullptr);
  EXPECT_TRUE(test::soon([this] { return put({"b"}).has_value(); }));
  EXPECT_TRUE(test::soon([this] { return count().has_value(); }));
}

TEST_F(HBaseClient, TheServerIsToldHowLongWeWait) {
  std::atomic<std::uint32_t> told = 0;
  options_.call_ms_max = 1234;
  hbase_.script([&](const FakeCall& call) {
    if (call.method == "Multi") told = call.timeout_ms;
    return FakeReaction();
  });
  ASSERT_TRUE(put({"a"}));
  EXPECT_GT(told, 0U);
  EXPECT_LE(told, 1234U);
}

// A server that reads nothing gets no more than its share; who has more waits, and nothing is lost.
TEST_F(HBaseClient, AServerThatDoesNotReadHoldsWritersBack) {
  constexpr int kWriters = 64;
  constexpr std::size_t kValueBytes = 128 << 10;
  options_.server_bytes_max = 8 * kValueBytes;  // seven requests: each is a little longer
  options_.server_batches_max = kWriters;
  options_.silence_ms_max = 60'000;
  ASSERT_TRUE(put({"a"}));
  hbase_.set_deaf(0, true);
  std::vector<Task<void>> tasks;
  for (int i = 0; i < kWriters; ++i) {
    std::vector<RowMutation> write = {
        {"big" + std::to_string(i), {{"f", "q", Bytes(kValueBytes, 'x'), 5}}, {}}};
    tasks.push_back(client().mutate(kTable, std::move(write)));
  }
  std::thread hearing([this] {
    // All but those that the limit lets through, and one that was just being read.
    EXPECT_TRUE(test::soon([this] {
      return metric("halite_hbase_waiting_requests") >= kWriters - 8 &&
             metric("halite_hbase_under_way_bytes") > 6 * kValueBytes;
    }));
    EXPECT_LE(metric("halite_hbase_under_way_bytes"), options_.server_bytes_max);
    hbase_.set_deaf(0, false);
  });
  for (const auto& outcome : run_tasks(std::move(tasks), 2)) {
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
  hearing.join();
  EXPECT_EQ(hbase_.row_count(kTable), kWriters + 1U);
  EXPECT_EQ(metric("halite_hbase_waiting_requests"), 0);
  EXPECT_EQ(metric("halite_hbase_under_way_bytes"), 0);
}

TEST_F(HBaseClient, AScanGoesOnWhereItsScannerWasLost) {
  ASSERT_TRUE(put({"a", "b", "c", "d", "e"}));
  hbase_.set_rows_per_answer(1);
  const auto scan_keys = [this] {
    const auto scanner = client().scan(kTable, {});
    std::string keys;
    for (;;) {
      const auto batch = run_task(scanner->next());
      if (!batch) return keys + " " + batch.error().message;
      if (batch->empty()) return keys;
      for (const Row& row : *batch) keys += row.key;
    }
  };
  EXPECT_EQ(scan_keys(), "abcde");
  for (const char* exception :
       {"UnknownScannerException", "NotServingRegionException", "regionserver.LeaseException",
        "exceptions.ScannerResetException", "exceptions.OutOfOrderScannerNextException"}) {
    once("Scan", {.what = FakeReaction::kThrow, .exception = exception, .do_not_retry = true},
         hbase_.calls("Scan") + 3);
    EXPECT_EQ(scan_keys(), "abcde") << exception;
  }
  once("Scan", {.what = FakeReaction::kCloseAfter}, hbase_.calls("Scan") + 3);
  EXPECT_EQ(scan_keys(), "abcde");
}

}  // namespace
}  // namespace halite::storage::hbase
