// Views that one of several servers computes as rollups. The memory store stands in for HBase: it
// forgets what was deleted, so tests/hbase/views_test.py has the deletes.
#include "storage/views/shared/shared_views.h"

#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/units.h"
#include "storage/backends/memory/memory_store.h"
#include "tests/support/run_task.h"
#include "tests/support/unruly_store.h"
#include "tests/unit/storage/views/shared/view_daemon.h"

namespace halite::storage {
namespace {

using test::config_of_hours;
using test::run_task;
using Daemon = test::ViewDaemon;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimestampMs kDayBegin = 1'700'006'400'000;
constexpr std::string_view kHourly =
    R"([{"name":"hourly","metrics":"m","interval":"1h","functions":["sum","min","max"]}])";
constexpr std::string_view kByDc =
    R"([{"name":"by-dc","metrics":"m","interval":"1h","functions":["sum","min","max"],)"
    R"("group_by":["dc"]}])";

using Dump = std::map<std::string, std::string>;  // value by row and qualifier

class SharedViewsTest : public testing::Test {
 protected:
  static Dump dump(WideColumnStore& cells, const std::string& table) {
    const auto opened =
        run_task(cells.open_table({.name = table, .families = {{.name = "t"}}, .split_keys = {}}));
    const auto scanner = opened.value()->scan({}, {});
    Dump all;
    while (true) {
      const std::vector<Row> rows = run_task(scanner->next({})).value();
      if (rows.empty()) return all;
      for (const Row& row : rows) {
        for (const Cell& cell : row.cells) {
          all[to_hex(row.key) + " " + to_hex(cell.qualifier)] = to_hex(cell.value);
        }
      }
    }
  }
  Dump dump(const std::string& table) { return dump(cells_, table); }

  // Puts a row beside each, whose key has lost its last byte.
  void cut_rows(const std::string& table) {
    const auto opened =
        run_task(cells_.open_table({.name = table, .families = {{.name = "t"}}, .split_keys = {}}))
            .value();
    const auto scanner = opened->scan({}, {});
    const std::vector<Row> rows = run_task(scanner->next({})).value();
    for (const Row& row : rows) {
      std::vector<RowWrite> writes(1);
      writes[0].row = row.key.substr(0, row.key.size() - 1);
      writes[0].puts.push_back({{0, row.cells.front().qualifier}, row.cells.front().value, 0});
      ASSERT_TRUE(run_task(opened->write(std::move(writes))));
    }
  }

  void advance(std::int64_t by_ms, std::vector<Daemon*> alive) {
    for (std::int64_t left = by_ms; left > 0; left -= ViewLease::kRenewMs) {
      clock_.advance(std::min(left, ViewLease::kRenewMs));
      for (Daemon* daemon : alive) ASSERT_TRUE(run_task(daemon->views->keep_lease()));
    }
  }

  FakeClock clock_{kDayBegin + 10 * kHourMs + 300'000};
  MemoryStore cells_{clock_};
  Daemon a_{cells_, clock_, 'a'};
  Daemon b_{cells_, clock_, 'b'};
};

TEST_F(SharedViewsTest, TheTotalsOfSeriesAreTheBytesThatSendersOfRollupsWrite) {
  for (const auto& [host, value] : {std::pair{"x", 2.0}, {"y", 40.0}}) {
    a_.put(host, "p", kDayBegin + kHourMs, value);
    a_.put(host, "p", kDayBegin + kHourMs + 1, value + 3);
    a_.put(host, "p", kDayBegin + 3 * kHourMs, value);
  }
  ASSERT_TRUE(a_.open(kHourly));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  const Dump computed = dump("rollup-1h");
  EXPECT_THAT(computed, SizeIs(16));

  MemoryStore other(clock_);
  Daemon sender(other, clock_, 's');
  // The same ids in the same order.
  for (const std::string host : {"x", "y"}) {
    const SeriesName name{"m", {{"dc", "p"}, {"host", host}}};
    const std::int64_t value = host == "x" ? 2 : 40;
    const std::int64_t first = kDayBegin / 1000 + 3600;
    sender.send(name, false, 0, first, 2 * value + 3);
    sender.send(name, false, 1, first, 2);
    sender.send(name, false, 2, first, value);
    sender.send(name, false, 3, first, value + 3);
    sender.send(name, false, 1, first + 7200, 1);
    for (const std::uint8_t id : {0, 2, 3}) sender.send(name, false, id, first + 7200, value);
  }
  EXPECT_EQ(dump(other, "rollup-1h"), computed);
}

TEST_F(SharedViewsTest, TheTotalsOfGroupsAreThePreAggregatesThatSendersWrite) {
  a_.put("x", "p", kDayBegin + kHourMs, 2);
  a_.put("y", "p", kDayBegin + kHourMs + 5, 40);
  ASSERT_TRUE(a_.open(kByDc));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  const Dump computed = dump("preagg-1h");
  EXPECT_THAT(computed, SizeIs(4));
  EXPECT_THAT(dump("rollup-1h"), IsEmpty());
  // Sent again with the same names: nothing is added and nothing changes.
  const auto name = [](const std::string& aggregate) {
    return SeriesName{"m", {{"_aggregate", aggregate}, {"dc", "p"}}};
  };
  const std::int64_t time = kDayBegin / 1000 + 3600;
  b_.send(name("SUM"), true, 0, time, 42);
  b_.send(name("SUM"), true, 1, time, 2);
  b_.send(name("MIN"), true, 2, time, 2);
  b_.send(name("MAX"), true, 3, time, 40);
  EXPECT_EQ(dump("preagg-1h"), computed);
}

TEST_F(SharedViewsTest, AddsTheTagOfSingleSeriesIfSendersDo) {
  a_.put("x", "p", kDayBegin + kHourMs, 2);
  ASSERT_TRUE(a_.open(kHourly, {.tag_raw = true}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  const Dump computed = dump("rollup-1h");
  EXPECT_THAT(computed, SizeIs(4));
  b_.send({"m", {{"_aggregate", "RAW"}, {"dc", "p"}, {"host", "x"}}}, false, 0,
          kDayBegin / 1000 + 3600, 2);
  EXPECT_EQ(dump("rollup-1h"), computed);
}

TEST_F(SharedViewsTest, NoticesWhatAnotherServerWrote) {
  a_.put("x", "p", kDayBegin + kHourMs, 2);
  ASSERT_TRUE(a_.open(kHourly));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  const Dump before = dump("rollup-1h");
  const double computed = a_.units_computed();

  ASSERT_NO_FATAL_FAILURE(advance(SharedViews::kLookMs, {&a_}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  ASSERT_NO_FATAL_FAILURE(advance(SharedViews::kLookOverlapMs + SharedViews::kLookMs, {&a_}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  const double repeated = a_.units_computed();
  EXPECT_LE(repeated, computed + 2);  // the overlap of the first look

  b_.put("x", "p", kDayBegin + kHourMs, 0.5);  // overwritten: a fraction has another qualifier
  b_.put("y", "q", kDayBegin + 2 * kHourMs, 7);
  b_.put("y", "q", kDayBegin - 40 * kDayMs, 9);  // before the oldest day
  ASSERT_NO_FATAL_FAILURE(a_.build());
  EXPECT_EQ(dump("rollup-1h"), before);
  ASSERT_NO_FATAL_FAILURE(advance(SharedViews::kLookMs, {&a_}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  const Dump after = dump("rollup-1h");
  EXPECT_THAT(after, SizeIs(12));
  // All of it is what a server computes that begins anew.
  ASSERT_TRUE(run_task(a_.views->rebuild("hourly")));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  EXPECT_EQ(dump("rollup-1h"), after);
}

TEST_F(SharedViewsTest, RemovesTheTotalsOfPointsThatAreGone) {
  a_.put("x", "p", kDayBegin + kHourMs, 2);
  a_.put("y", "p", kDayBegin + kHourMs, 3);
  ASSERT_TRUE(a_.open(kHourly));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  EXPECT_THAT(dump("rollup-1h"), SizeIs(8));
  b_.remove("x", {.begin = kDayBegin, .end = kDayBegin + kDayMs});
  b_.put("y", "p", kDayBegin + kHourMs, 4);
  ASSERT_NO_FATAL_FAILURE(advance(SharedViews::kLookMs, {&a_}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  EXPECT_THAT(dump("rollup-1h"), SizeIs(4));
}

// Those of other series, functions and times stay.
TEST_F(SharedViewsTest, ReplacesOnlyItsOwnCells) {
  const std::int64_t time = kDayBegin / 1000 + 3600;
  b_.send({"m", {{"dc", "p"}, {"_aggregate", "SUM"}}}, true, 0, time, 1);  // replaced
  b_.send({"m", {{"dc", "z"}, {"_aggregate", "SUM"}}}, true, 0, time, 2);  // deleted
  b_.send({"m", {{"dc", "p"}, {"_aggregate", "SUM"}}}, true, 3, time, 3);  // a maximum of sums
  b_.send({"m", {{"dc", "p"}, {"rack", "1"}, {"_aggregate", "SUM"}}}, true, 0, time,
          4);                                                              // another tag
  b_.send({"n", {{"dc", "p"}, {"_aggregate", "SUM"}}}, true, 0, time, 5);  // another metric
  const Dump sent = dump("preagg-1h");
  ASSERT_THAT(sent, SizeIs(5));
  a_.put("x", "p", kDayBegin + kHourMs, 9);
  ASSERT_TRUE(a_.open(kByDc));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  const Dump after = dump("preagg-1h");
  int kept = 0;
  for (const auto& [cell, value] : sent) kept += after.contains(cell) && after.at(cell) == value;
  EXPECT_EQ(kept, 3);
  EXPECT_THAT(after, SizeIs(3 + 4));
}

// So long that a scan returns them in several parts.
TEST_F(SharedViewsTest, ReplacesCellsOfLongRows) {
  constexpr std::string_view kFine =
      R"([{"name":"fine","metrics":"m","interval":"5m","functions":["sum","min","max"]}])";
  clock_.set(kDayBegin + kDayMs + kHourMs);
  const auto fill = [&](Daemon& daemon, double value) {
    PointBatch batch;
    for (int host = 0; host < 60; ++host) {
      const SeriesId id = daemon.series({"m", {{"host", std::to_string(host)}}});
      for (TimestampMs time = kDayBegin; time < kDayBegin + kDayMs; time += 300'000) {
        // Only a few change, and their new values have another form.
        const bool changes = (time / 300'000 + host) % 7 == 0;
        batch.add(id, time, double_bits(changes ? value : 1), kFloat);
      }
    }
    daemon.append(std::move(batch));
  };
  fill(a_, 2);
  ASSERT_TRUE(a_.open(kFine));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  fill(a_, 2.5);
  ASSERT_TRUE(run_task(a_.views->rebuild("fine")));
  ASSERT_NO_FATAL_FAILURE(a_.build());

  MemoryStore other(clock_);
  Daemon fresh(other, clock_, 'f');
  fill(fresh, 2.5);
  ASSERT_TRUE(fresh.open(kFine));
  ASSERT_NO_FATAL_FAILURE(fresh.build());
  const Dump expected = dump(other, "rollup-5m");
  EXPECT_THAT(expected, SizeIs(60 * 288 * 4));
  EXPECT_TRUE(dump("rollup-5m") == expected);
}

TEST_F(SharedViewsTest, AnotherServerContinuesWhereTheHolderStopped) {
  for (int hour = 0; hour < 10; ++hour) a_.put("x", "p", kDayBegin + hour * kHourMs, hour);
  ASSERT_TRUE(a_.open(kHourly));
  ASSERT_TRUE(b_.open(kHourly));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  ASSERT_NO_FATAL_FAILURE(b_.build());
  EXPECT_EQ(b_.units_computed(), 0);
  // The points are older than the overlap of the next look.
  ASSERT_NO_FATAL_FAILURE(advance(SharedViews::kLookOverlapMs + SharedViews::kLookMs, {&a_, &b_}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  ASSERT_TRUE(run_task(b_.views->keep_lease()));
  const SharedViewStatus status = run_task(b_.views->status()).value();
  EXPECT_EQ(status.holder, "host-a");
  EXPECT_FALSE(status.holds);
  EXPECT_EQ(status.views.at(0).units_built, 10U);
  const Result<void> refused = run_task(b_.views->rebuild("hourly"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("host-a"));

  const Dump before = dump("rollup-1h");
  b_.put("x", "p", kDayBegin + 5 * kHourMs, 100);  // a is dead by now
  ASSERT_NO_FATAL_FAILURE(advance(ViewLease::kExpiresMs, {&b_}));
  ASSERT_NO_FATAL_FAILURE(b_.build());
  EXPECT_TRUE(run_task(b_.views->status()).value().holds);
  EXPECT_NE(dump("rollup-1h"), before);
  EXPECT_EQ(b_.units_computed(), 1);

  // A holder that stood still writes nothing when it continues.
  const Result<bool> built = run_task(a_.views->build_some());
  ASSERT_TRUE(built);
  EXPECT_FALSE(*built);
  EXPECT_FALSE(run_task(a_.views->status()).value().holds);
}

TEST_F(SharedViewsTest, ComputesOnlyTheChangedHoursAfterATakeover) {
  for (int hour = 0; hour < 10; ++hour) a_.put("x", "p", kDayBegin + hour * kHourMs, hour);
  ASSERT_TRUE(a_.open(kHourly));
  ASSERT_TRUE(b_.open(kHourly));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  ASSERT_NO_FATAL_FAILURE(advance(SharedViews::kLookOverlapMs + SharedViews::kLookMs, {&a_, &b_}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  ASSERT_TRUE(run_task(a_.views->release()));
  b_.put("x", "p", kDayBegin + 5 * kHourMs, 100);
  ASSERT_NO_FATAL_FAILURE(b_.build());
  EXPECT_EQ(b_.units_computed(), 1);
}

// It was cut off for so long that another server held the lease for a while.
TEST_F(SharedViewsTest, ABuildWritesNothingInALaterTerm) {
  test::Unruly unruly;
  test::UnrulyStore cells(cells_, "rollup-1h", unruly);
  Daemon cut_off(cells, clock_, 'c');
  for (int hour = 0; hour < 3; ++hour) a_.put("x", "p", kDayBegin + hour * kHourMs, hour);
  ASSERT_TRUE(cut_off.open(kHourly));
  ASSERT_TRUE(b_.open(kHourly));
  ASSERT_TRUE(run_task(cut_off.views->keep_lease()));
  ASSERT_TRUE(run_task(b_.views->keep_lease()));
  Dump right;
  const auto take_over = [&] {
    ASSERT_NO_FATAL_FAILURE(advance(ViewLease::kExpiresMs, {&b_}));
    b_.put("x", "p", kDayBegin + kHourMs, 100);
    ASSERT_NO_FATAL_FAILURE(b_.build());
    // No later look finds the change.
    ASSERT_NO_FATAL_FAILURE(advance(2 * SharedViews::kLookOverlapMs, {&b_}));
    ASSERT_NO_FATAL_FAILURE(b_.build());
    right = dump("rollup-1h");
    ASSERT_TRUE(run_task(b_.views->release()));
    ASSERT_TRUE(run_task(cut_off.views->keep_lease()));
  };
  // When the totals are computed.
  unruly.at_scan = [&take_over] { std::thread(take_over).join(); };
  const Result<bool> built = run_task(cut_off.views->build_some());
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(right, SizeIs(12));
  EXPECT_TRUE(dump("rollup-1h") == right);
  ASSERT_NO_FATAL_FAILURE(cut_off.build());
  EXPECT_TRUE(run_task(cut_off.views->status()).value().holds);
  EXPECT_TRUE(dump("rollup-1h") == right);
}

// Which OpenTSDB's fsck knows: here keys that end too early, each before that of a good row.
TEST_F(SharedViewsTest, ALookSkipsRowsWithUnreadableKeys) {
  a_.put("x", "p", kDayBegin + kHourMs, 2);
  ASSERT_TRUE(a_.open(kHourly));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  ASSERT_NO_FATAL_FAILURE(advance(SharedViews::kLookOverlapMs + SharedViews::kLookMs, {&a_}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  const double computed = a_.units_computed();
  ASSERT_NO_FATAL_FAILURE(cut_rows("tsdb"));
  b_.put("x", "p", kDayBegin + 2 * kHourMs, 7);
  ASSERT_NO_FATAL_FAILURE(advance(SharedViews::kLookMs, {&a_}));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  EXPECT_EQ(a_.units_computed(), computed + 1);
  EXPECT_EQ(a_.rows_skipped(), 1);
}

TEST_F(SharedViewsTest, TheFirstTimeIsThatOfAReadableRow) {
  prometheus::Registry registry;
  UnreadableRows unreadable(registry);
  a_.put("x", "p", kDayBegin + kHourMs, 2);
  ASSERT_NO_FATAL_FAILURE(cut_rows("tsdb"));
  const auto metric = Bytes("\0\0\1", 3);
  const auto first = run_task(first_row_time(a_.points(), metric, 0, unreadable));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(*first, kDayBegin + kHourMs);
}

TEST_F(SharedViewsTest, RollupsWithUnreadableKeysStay) {
  a_.put("x", "p", kDayBegin + kHourMs, 2);
  ASSERT_TRUE(a_.open(kHourly));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  ASSERT_NO_FATAL_FAILURE(cut_rows("rollup-1h"));
  const Dump before = dump("rollup-1h");
  ASSERT_TRUE(run_task(a_.views->rebuild("hourly")));
  ASSERT_NO_FATAL_FAILURE(a_.build());
  EXPECT_EQ(dump("rollup-1h"), before);
  EXPECT_EQ(a_.rows_skipped(), 1);
}

TEST_F(SharedViewsTest, StatusWithoutTheLeaseReadsTheTableNotEachTime) {
  a_.put("x", "p", kDayBegin + kHourMs, 2);
  test::Unruly unruly;
  test::UnrulyStore cells(cells_, "halite-views", unruly);
  Daemon asked(cells, clock_, 'd');
  ASSERT_TRUE(a_.open(kHourly));
  ASSERT_TRUE(asked.open(kHourly));
  ASSERT_TRUE(run_task(a_.views->keep_lease()));
  ASSERT_TRUE(run_task(asked.views->keep_lease()));
  const auto units_built = [&] {
    return run_task(asked.views->status()).value().views.at(0).units_built;
  };
  EXPECT_EQ(units_built(), 0U);
  const int scans = unruly.scans;
  EXPECT_GT(scans, 0);
  ASSERT_NO_FATAL_FAILURE(a_.build());
  clock_.advance(SharedViews::kStatusMs - 1);
  EXPECT_EQ(units_built(), 0U);
  EXPECT_EQ(unruly.scans, scans);
  clock_.advance(1);
  EXPECT_EQ(units_built(), 10U);
  EXPECT_GT(unruly.scans, scans);
}

TEST_F(SharedViewsTest, RefusesWhatTheTablesCannotContain) {
  const auto error_of = [this](std::string_view rules) {
    const Result<void> opened = a_.open(rules);
    return opened ? std::string() : opened.error().message;
  };
  EXPECT_THAT(error_of(R"([{"name":"v","metrics":"m","interval":"10m","functions":["sum"]}])"),
              HasSubstr("view \"v\": rollups.config has no table for an interval of 600 s; it has "
                        "1h, 5m"));
  EXPECT_THAT(error_of(R"([{"name":"v","metrics":"m","interval":"1m","functions":["sum"]}])"),
              HasSubstr("interval of 60 s"));
  EXPECT_THAT(
      error_of(R"([{"name":"v","metrics":"m","interval":"1h","functions":["sum"],"keep":"1y"}])"),
      HasSubstr("keep is not available"));
  EXPECT_THAT(
      error_of(R"([{"name":"v","metrics":"m","interval":"1h","functions":["sum","p50","p99"]}])"),
      HasSubstr("percentiles (p50, p99) are not available"));
  EXPECT_THAT(error_of(R"([{"name":"v","metrics":"m","interval":"1h","functions":["sum"],)"
                       R"("group_by":["_aggregate"]}])"),
              HasSubstr("rollups.aggregate_tag"));
  EXPECT_THAT(error_of(R"([{"name":"v","metrics":"cpu.*","interval":"1h","functions":["sum"]},)"
                       R"({"name":"w","metrics":"cpu.user","interval":"1h","functions":["max"]}])"),
              HasSubstr("also those of view \"v\""));
  EXPECT_EQ(error_of(R"([{"name":"v","metrics":"cpu.*","interval":"1h","functions":["sum"]},)"
                     R"({"name":"w","metrics":"cpu.*","interval":"1h","functions":["max"],)"
                     R"("group_by":[]}])"),
            "");
  RollupConfig config = config_of_hours();
  config.ids.erase("count");
  const auto rules = parse_view_rules(kHourly).value();
  const Result<void> checked = check_rollup_views(rules, config, {});
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("no id for count, which every view keeps"));
}

}  // namespace
}  // namespace halite::storage
