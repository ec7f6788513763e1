// Scans over regions that move, split, and lose their scanners: no row is lost, none comes twice.
#include <thread>

#include <gmock/gmock.h>

#include "tests/unit/storage/backends/hbase/client_world.h"

namespace halite::storage::hbase {
namespace {

using test::FakeCall;
using test::FakeReaction;
using test::run_task;

constexpr std::size_t kScannedRows = 100;

class ClientScanTest : public ClientTest {
 protected:
  void SetUp() override {
    hbase_.add_table("t", {"row0030", "row0060"});
    hbase_.move_region("t", "row0030", 1);
    hbase_.set_rows_per_answer(4);
    ASSERT_TRUE(run_task(client().mutate("t", rows(kScannedRows))));
  }

  // Does this at every call of a scan of t with that number.
  void at_scans(std::function<FakeReaction(std::size_t number)> reaction) {
    hbase_.script([reaction = std::move(reaction),
                   number = std::size_t{0}](const FakeCall& call) mutable -> FakeReaction {
      if (call.method != "Scan" || call.table == "hbase:meta") return {};
      return reaction(++number);
    });
  }
};

TEST_F(ClientScanTest, AllRowsInOrder) {
  EXPECT_EQ(scan_text({}), numbers(kScannedRows));
  ScanRequest reverse;
  reverse.reverse = true;
  EXPECT_EQ(scan_text(reverse), numbers(kScannedRows, true));
}

TEST_F(ClientScanTest, RangesEndWhereTheyAreAsked) {
  ScanRequest request;
  request.begin = "row0029";
  request.end = "row0061";
  std::string expected;
  for (int i = 29; i < 61; ++i) expected += (i == 29 ? "" : ",") + std::to_string(i);
  EXPECT_EQ(scan_text(request), expected);
  request.begin = "row0030";
  request.end = "row0031";
  EXPECT_EQ(scan_text(request), "30");
  request.reverse = true;
  EXPECT_EQ(scan_text(request), "30");
  request.begin = "row0059a";
  request.end = "row0060";
  EXPECT_EQ(scan_text(request), "");
}

TEST_F(ClientScanTest, EveryKindOfTroubleIsGoneThrough) {
  for (const bool reverse : {false, true}) {
    for (const char* name :
         {"UnknownScannerException", "exceptions.ScannerResetException",
          "NotServingRegionException", "exceptions.OutOfOrderScannerNextException",
          "CallQueueTooBigException", "regionserver.LeaseException", "SomethingNew"}) {
      at_scans([name](std::size_t number) -> FakeReaction {
        if (number % 3 != 0) return {};
        return {.what = FakeReaction::kThrow, .exception = name};
      });
      ScanRequest request;
      request.reverse = reverse;
      EXPECT_EQ(scan_text(request), numbers(kScannedRows, reverse)) << name;
    }
  }
}

class ClientLossyScanTest : public ClientScanTest {
 protected:
  ClientLossyScanTest() { options_.call_ms_max = 150; }
};

TEST_F(ClientLossyScanTest, LostAnswersLoseNoRow) {
  for (const FakeReaction::What what :
       {FakeReaction::kSwallow, FakeReaction::kCloseAfter, FakeReaction::kCloseBefore}) {
    at_scans([what](std::size_t number) -> FakeReaction {
      return {.what = number % 9 == 5 ? what : FakeReaction::kAnswer};
    });
    EXPECT_EQ(scan_text({}), numbers(kScannedRows)) << what;
  }
}

// Rows that are cut where an answer is full, and scanners that are lost within a row: by the
// server, with the connection, or with an answer on its way.
class ClientWideScanTest : public ClientScanTest {
 protected:
  void SetUp() override {
    ClientScanTest::SetUp();
    std::vector<RowMutation> wide;
    for (std::size_t row = 0; row < 12; ++row) {
      RowMutation& mutation = wide.emplace_back();
      mutation.row = row_key(row * 8);
      for (std::size_t cell = 0; cell < 7; ++cell) {
        const Bytes value = std::to_string(row) + "." + std::to_string(cell);
        mutation.puts.push_back({cell < 3 ? "f" : "g", "q" + std::to_string(cell), value, kTime});
      }
    }
    ASSERT_TRUE(run_task(client().mutate("t", wide)));
    whole_ = scan_text({});
  }

  // Whatever fits into an answer, all cells come once and in order; every so many calls meet this.
  // A row of one cell an answer takes eight calls, and begins again with another scanner.
  void expect_whole(const FakeReaction& trouble, std::size_t every = 13) {
    for (const std::size_t cells : {1U, 2U, 3U, 7U, 10U}) {
      hbase_.set_cells_per_answer(cells);
      at_scans([trouble, every](std::size_t number) -> FakeReaction {
        return number % every == 2 ? trouble : FakeReaction();
      });
      EXPECT_EQ(scan_text({}), whole_) << cells;
    }
  }

  std::string whole_;
};

TEST_F(ClientWideScanTest, RowsGoOnInTheNextAnswer) { expect_whole({}); }

TEST_F(ClientWideScanTest, RowsGoOnWithAnotherScanner) {
  expect_whole({.what = FakeReaction::kThrow, .exception = "UnknownScannerException"});
}

TEST_F(ClientWideScanTest, RowsGoOnWithAnotherConnection) {
  const std::size_t before = hbase_.connections();
  expect_whole({.what = FakeReaction::kCloseBefore});
  expect_whole({.what = FakeReaction::kCloseAfter});
  EXPECT_GT(hbase_.connections(), before + 20);
}

// A server that has looked for long and found nothing says so; with rows it may be within one.
TEST_F(ClientWideScanTest, HeartbeatsAreNoEnd) {
  for (const std::size_t every : {2U, 3U}) {
    hbase_.set_heartbeat_every(every);
    expect_whole({});
    expect_whole({.what = FakeReaction::kCloseAfter}, 29);
    ScanRequest reverse;
    reverse.reverse = true;
    reverse.end = "row0000a";
    EXPECT_EQ(scan_text(reverse), "0,0.0,0.1,0.2,0.3,0.4,0.5,0.6");
  }
}

TEST_F(ClientScanTest, RegionsMayMoveAndSplitUnderIt) {
  for (const bool reverse : {false, true}) {
    ScanRequest request;
    request.reverse = reverse;
    const auto between = [this, reverse](std::size_t batch) {
      if (batch == 1) hbase_.move_region("t", reverse ? "row0099" : "row0000", 1);
      if (batch == 2) hbase_.split_region("t", reverse ? "row0075" : "row0020");
      if (batch == 4) hbase_.move_region("t", "row0050", 0);
      if (batch == 6) hbase_.split_region("t", reverse ? "row0042" : "row0048");
      if (batch == 8) hbase_.move_region("t", "row0050", 1);
    };
    EXPECT_EQ(scan_text(request, between), numbers(kScannedRows, reverse));
  }
}

TEST_F(ClientScanTest, WhatHBaseRefusesEndsIt) {
  at_scans([](std::size_t number) -> FakeReaction {
    if (number != 3) return {};
    return {.what = FakeReaction::kThrow,
            .exception = "DoNotRetryIOException",
            .text = "bad filter",
            .do_not_retry = true};
  });
  const auto scanner = client().scan("t", {});
  Result<std::vector<Row>> batch = run_task(scanner->next());
  while (batch && !batch->empty()) batch = run_task(scanner->next());
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().message, testing::HasSubstr("bad filter"));
  const Result<std::vector<Row>> again = run_task(scanner->next());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, batch.error().message);
}

TEST_F(ClientScanTest, TheEndIsTheEndEachTime) {
  ScanRequest request;
  request.begin = "x";
  const auto scanner = client().scan("t", request);
  EXPECT_TRUE(run_task(scanner->next()).value().empty());
  EXPECT_TRUE(run_task(scanner->next()).value().empty());
}

TEST_F(ClientScanTest, OneBatchIsFetchedAheadAndNoMore) {
  const std::size_t before = hbase_.calls("Scan");
  const auto scanner = client().scan("t", {});
  EXPECT_EQ(hbase_.calls("Scan"), before);  // nothing before it is asked
  ASSERT_EQ(run_task(scanner->next()).value().size(), 4U);
  while (hbase_.calls("Scan") < before + 2) std::this_thread::yield();
  EXPECT_TRUE(run_task(client().mutate("t", {put("row0001", "1")})));  // some time goes by
  EXPECT_EQ(hbase_.calls("Scan"), before + 2);
}

TEST_F(ClientScanTest, ScannersMayBeLeftAnywhere) {
  for (int i = 0; i < 20; ++i) {
    const auto scanner = client().scan("t", {});
    if (i % 2 == 0) EXPECT_TRUE(run_task(scanner->next()));
  }
  const auto open = client().scan("t", {});
  EXPECT_TRUE(run_task(open->next()));
  EXPECT_TRUE(run_task(client().close()));
  Result<std::vector<Row>> batch = run_task(open->next());
  if (batch) batch = run_task(open->next());  // the one that was fetched ahead
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().code, Errc::kUnavailable);
}

}  // namespace
}  // namespace halite::storage::hbase
