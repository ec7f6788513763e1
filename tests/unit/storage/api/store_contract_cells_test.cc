// Cells: what is written, replaced, deleted, counted and refused.
#include "tests/unit/storage/api/store_contract.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreCells : public StoreContract {};
INSTANTIATE_TEST_SUITE_P(Store, StoreCells, testing::ValuesIn(store_kinds()), kind_name);

Bytes counter_of(std::uint64_t value) {
  Bytes bytes;
  append_be(bytes, value);
  return bytes;
}

TEST_P(StoreCells, AnEmptyStoreHasNothing) {
  EXPECT_EQ(get("row", "q"), std::nullopt);
  EXPECT_THAT(cells("row"), IsEmpty());
  EXPECT_THAT(scan({}), IsEmpty());
  EXPECT_TRUE(run_task(table_->write({})));
  EXPECT_THAT(run_task(table_->read({})).value(), IsEmpty());
}

TEST_P(StoreCells, WhatGoesInComesOut) {
  ASSERT_TRUE(put("row", "q", "value"));
  EXPECT_EQ(get("row", "q"), "value");
  EXPECT_EQ(get("row", "p"), std::nullopt);
  EXPECT_EQ(get("row", "q", 1), std::nullopt);
  ASSERT_TRUE(put("row", "q", ""));
  EXPECT_EQ(get("row", "q"), "");
}

TEST_P(StoreCells, TheEmptyQualifierIsOne) {
  ASSERT_TRUE(put("row", "", "nameless"));
  ASSERT_TRUE(put("row", "q", "named"));
  EXPECT_EQ(get("row", ""), "nameless");
  EXPECT_EQ(texts_of(scan({})), (std::vector<std::string>{"row:=nameless q=named"}));
  ASSERT_TRUE(remove("row", ""));
  EXPECT_EQ(get("row", ""), std::nullopt);
  EXPECT_EQ(get("row", "q"), "named");
}

TEST_P(StoreCells, EveryByteIsAllowedInKeysAndQualifiers) {
  const std::vector<Bytes> names = {Bytes("\0", 1),
                                    Bytes("\0\0", 2),
                                    Bytes("\0\x01", 2),
                                    Bytes("\0\xFF", 2),
                                    Bytes("\x01", 1),
                                    "a",
                                    Bytes("a\0", 2),
                                    Bytes("a\0\0", 3),
                                    Bytes("a\0\xFF", 3),
                                    Bytes("a\x01", 2),
                                    "aa",
                                    "a\xFF",
                                    "\xFE",
                                    "\xFF",
                                    Bytes("\xFF\0", 2),
                                    Bytes("\xFF\xFF", 2)};
  for (const Bytes& row : names) {
    for (const Bytes& qualifier : names) ASSERT_TRUE(put(row, qualifier, row + "/" + qualifier));
  }
  for (const Bytes& row : names) {
    for (const Bytes& qualifier : names) EXPECT_EQ(get(row, qualifier), row + "/" + qualifier);
  }
  const std::vector<Row> rows = scan({});
  ASSERT_EQ(rows.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(rows[i].key, names[i]);
    ASSERT_EQ(rows[i].cells.size(), names.size());
    for (std::size_t j = 0; j < names.size(); ++j) EXPECT_EQ(rows[i].cells[j].qualifier, names[j]);
  }
  ScanSpec backward;
  backward.reverse = true;
  EXPECT_EQ(scan_keys(backward), std::vector<Bytes>(names.rbegin(), names.rend()));
}

TEST_P(StoreCells, KeysAtTheLimitAreTaken) {
  const Bytes longest(kRowKeyBytesMax, '\0');
  ASSERT_TRUE(put("k", "q", "short"));
  ASSERT_TRUE(put(longest, "q", "long"));
  EXPECT_EQ(get("k", "q"), "short");
  EXPECT_EQ(get(longest, "q"), "long");
  EXPECT_THAT(scan_keys({}), ElementsAre(longest, "k"));
}

TEST_P(StoreCells, KeysOverTheLimitAreRefusedEverywhere) {
  for (const Bytes& key : {Bytes(), Bytes(kRowKeyBytesMax + 1, 'k')}) {
    EXPECT_EQ(put(key, "q", "v").error().code, Errc::kInvalidArgument);
    EXPECT_EQ(remove(key, "q").error().code, Errc::kInvalidArgument);
    EXPECT_EQ(run_task(table_->read({{key, 0, {}}})).error().code, Errc::kInvalidArgument);
    EXPECT_EQ(run_task(table_->read({{key, 0, {"q"}}})).error().code, Errc::kInvalidArgument);
    EXPECT_EQ(run_task(table_->increment(key, {0, "q"}, 1)).error().code, Errc::kInvalidArgument);
    EXPECT_EQ(run_task(table_->compare_and_put(key, {0, "q"}, {}, "v")).error().code,
              Errc::kInvalidArgument);
    if (key.empty()) continue;  // in a range, empty means that it is open
    for (const KeyRange& range : {KeyRange{key, ""}, KeyRange{"", key}}) {
      ScanSpec spec;
      spec.ranges = {range};
      EXPECT_EQ(run_task(table_->scan(spec, {})->next({})).error().code, Errc::kInvalidArgument);
    }
  }
}

TEST_P(StoreCells, OneBadRowKeepsTheWholeBatchOut) {
  RowWrite good{"good", {{{0, "q"}, "v", 0}}, {}};
  RowWrite bad{"", {{{0, "q"}, "v", 0}}, {}};
  EXPECT_EQ(run_task(table_->write({good, bad})).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(get("good", "q"), std::nullopt);
}

TEST_P(StoreCells, UnknownFamiliesAndTimesBelowZeroAreRefused) {
  EXPECT_EQ(put("row", "q", "v", 0, 2).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(put("row", "q", "v", -1).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(remove("row", "q", 2).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(run_task(table_->read({{"row", 2, {}}})).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(run_task(table_->increment("row", {2, "q"}, 1)).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(run_task(table_->compare_and_put("row", {2, "q"}, {}, "v")).error().code,
            Errc::kInvalidArgument);
  ScanSpec spec;
  spec.family = 2;
  EXPECT_EQ(run_task(table_->scan(spec, {})->next({})).error().code, Errc::kInvalidArgument);
}

TEST_P(StoreCells, ReadsKeepTheirOrderAndSkipWhatIsNotThere) {
  ASSERT_TRUE(put("a", "q1", "1"));
  ASSERT_TRUE(put("a", "q2", "2"));
  ASSERT_TRUE(put("a", "q3", "3"));
  ASSERT_TRUE(put("b", "q1", "4"));
  const auto rows = run_task(
      table_->read({{"b", 0, {}}, {"c", 0, {}}, {"a", 0, {"q3", "q0", "q1", "q3"}}, {"a", 0, {}}}));
  ASSERT_TRUE(rows);
  EXPECT_THAT(texts_of(*rows), ElementsAre("b:q1=4", "c:", "a:q1=1 q3=3", "a:q1=1 q2=2 q3=3"));
}

TEST_P(StoreCells, TheGreatestTimeWinsThenTheLastWritten) {
  ASSERT_TRUE(put("row", "q", "middle", 2000));
  ASSERT_TRUE(put("row", "q", "older", 1000));
  EXPECT_EQ(get("row", "q"), "middle");
  ASSERT_TRUE(put("row", "q", "again", 2000));
  EXPECT_EQ(get("row", "q"), "again");
  ASSERT_TRUE(put("row", "q", "newer", 3000));
  EXPECT_EQ(get("row", "q"), "newer");
  ASSERT_EQ(cells("row").size(), 1u);
  EXPECT_EQ(cells("row").front().time, 3000);
  ASSERT_TRUE(put("row", "q", "stamped"));
  EXPECT_EQ(get("row", "q"), "stamped");
  EXPECT_EQ(cells("row").front().time, kTestNow);
  ASSERT_TRUE(put("row", "q", "too late", kTestNow - 1));
  EXPECT_EQ(get("row", "q"), "stamped");
}

TEST_P(StoreCells, StampsNeverFallBelowATimeTheStoreHasSeen) {
  ASSERT_TRUE(put("other", "q", "from the future", kTestNow + 5000));
  ASSERT_TRUE(put("row", "q", "first"));
  EXPECT_EQ(cells("row").front().time, kTestNow + 5000);
  clock_.set(kTestNow - 60'000);
  ASSERT_TRUE(put("row", "q", "second"));
  EXPECT_EQ(get("row", "q"), "second");
  EXPECT_EQ(cells("row").front().time, kTestNow + 5000);
  const TimestampMs newest = table_->newest_stamp();  // 0: this store does not tell
  EXPECT_TRUE(newest == 0 || newest >= kTestNow + 5000) << newest;
  clock_.set(kTestNow + 60'000);
  ASSERT_TRUE(put("row", "q", "third"));
  EXPECT_EQ(cells("row").front().time, kTestNow + 60'000);
}

TEST_P(StoreCells, OneCallSettlesRepeatedCellsByTheSameRule) {
  RowWrite write;
  write.row = "row";
  write.puts = {{{0, "a"}, "1", 0},
                {{0, "a"}, "2", 0},
                {{0, "b"}, "newer", 9000},
                {{0, "b"}, "older", 8000},
                {{0, "c"}, "ahead", kTestNow + 7},
                {{0, "c"}, "stamped", 0}};
  ASSERT_TRUE(run_task(table_->write({write})));
  EXPECT_THAT(texts_of(scan({})), ElementsAre("row:a=2 b=newer c=stamped"));
}

TEST_P(StoreCells, DeletesHitWhatWasThereBeforeTheCall) {
  ASSERT_TRUE(put("row", "a", "1"));
  ASSERT_TRUE(put("row", "b", "2"));
  RowWrite write;
  write.row = "row";
  write.puts = {{{0, "a"}, "new", 5}};
  write.deletes = {{0, "a"}, {0, "b"}, {0, "never there"}};
  ASSERT_TRUE(run_task(table_->write({write})));
  EXPECT_THAT(texts_of(scan({})), ElementsAre("row:a=new"));
  ASSERT_TRUE(remove("row", "a"));
  ASSERT_TRUE(remove("row", "a"));
  EXPECT_THAT(scan({}), IsEmpty());
}

TEST_P(StoreCells, FamiliesAndTablesDoNotMix) {
  ASSERT_TRUE(put("row", "q", "d", 0, 0));
  ASSERT_TRUE(put("row", "q", "t", 0, 1));
  const std::shared_ptr<Table> first = table_;
  open(two_families("other"));
  EXPECT_EQ(get("row", "q"), std::nullopt);
  ASSERT_TRUE(put("row", "q", "other"));
  table_ = first;
  EXPECT_EQ(get("row", "q", 0), "d");
  EXPECT_EQ(get("row", "q", 1), "t");
  ASSERT_TRUE(remove("row", "q", 0));
  EXPECT_EQ(get("row", "q", 1), "t");
}

TEST_P(StoreCells, CellsOlderThanTheTtlAreGone) {
  ASSERT_TRUE(put("row", "q", "v", 0, 1));
  ASSERT_TRUE(put("row", "born expired", "v", kTestNow - kShortTtlMs, 1));
  ASSERT_TRUE(put("row", "q", "kept", 0, 0));
  clock_.advance(kShortTtlMs - 1);
  EXPECT_EQ(get("row", "q", 1), "v");
  EXPECT_EQ(cells("row", 1).size(), 1u);
  ScanSpec spec;
  spec.family = 1;
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("row:q=v"));
  clock_.advance(1);
  EXPECT_EQ(get("row", "q", 1), std::nullopt);
  EXPECT_THAT(cells("row", 1), IsEmpty());
  EXPECT_THAT(scan(spec), IsEmpty());
  EXPECT_EQ(get("row", "q", 0), "kept");
}

TEST_P(StoreCells, AnExpiredCellCountsAsAbsent) {
  ASSERT_TRUE(run_task(table_->increment("row", {1, "n"}, 5)));
  ASSERT_TRUE(put("row", "q", "old", 0, 1));
  clock_.advance(kShortTtlMs);
  EXPECT_EQ(run_task(table_->increment("row", {1, "n"}, 7)).value(), 7);
  EXPECT_EQ(run_task(table_->compare_and_put("row", {1, "q"}, "old", "new")).value(),
            CasOutcome::kRefused);
  EXPECT_EQ(run_task(table_->compare_and_put("row", {1, "q"}, {}, "new")).value(),
            CasOutcome::kApplied);
  EXPECT_EQ(get("row", "q", 1), "new");
}

TEST_P(StoreCells, TheTtlIsTakenFromTheLastOpening) {
  ASSERT_TRUE(put("row", "q", "v"));
  clock_.advance(5000);
  TableSpec shorter = spec_;
  shorter.families[0].ttl_ms = 4000;
  open(shorter);
  EXPECT_EQ(get("row", "q"), std::nullopt);
  shorter.families[0].ttl_ms = 6000;
  ASSERT_TRUE(put("other", "q", "v"));
  open(shorter);
  EXPECT_EQ(get("other", "q"), "v");
}

TEST_P(StoreCells, OtherFamiliesAreAConflict) {
  ASSERT_TRUE(put("row", "q", "v"));
  TableSpec other = spec_;
  other.families.pop_back();
  EXPECT_EQ(run_task(harness_->store().open_table(other)).error().code, Errc::kConflict);
  other = spec_;
  std::swap(other.families[0], other.families[1]);
  const auto swapped = run_task(harness_->store().open_table(other));
  EXPECT_EQ(swapped.error().code, Errc::kConflict);
  EXPECT_THAT(swapped.error().message, HasSubstr("has the families d, t; asked for t, d"));
  EXPECT_EQ(get("row", "q"), "v");
}

TEST_P(StoreCells, BadTableSpecsAreRefused) {
  const auto refused = [this](TableSpec spec) {
    const auto table = run_task(harness_->store().open_table(std::move(spec)));
    return !table && table.error().code == Errc::kInvalidArgument;
  };
  EXPECT_TRUE(refused({.name = "", .families = {{.name = "d"}}, .split_keys = {}}));
  EXPECT_TRUE(refused({.name = "a/b", .families = {{.name = "d"}}, .split_keys = {}}));
  EXPECT_TRUE(refused({.name = "a", .families = {}, .split_keys = {}}));
  EXPECT_TRUE(refused({.name = "a", .families = {{.name = ""}}, .split_keys = {}}));
  EXPECT_TRUE(refused({.name = "a", .families = {{.name = "d"}, {.name = "d"}}, .split_keys = {}}));
  EXPECT_TRUE(refused({.name = "a", .families = {{.name = "d", .ttl_ms = -1}}, .split_keys = {}}));
  EXPECT_TRUE(refused({.name = "a", .families = std::vector<FamilySpec>(256), .split_keys = {}}));
}

TEST_P(StoreCells, CountersCountFromZeroAndWrap) {
  EXPECT_EQ(run_task(table_->increment("row", {0, "n"}, 5)).value(), 5);
  EXPECT_EQ(run_task(table_->increment("row", {0, "n"}, -7)).value(), -2);
  EXPECT_EQ(get("row", "n"), counter_of(static_cast<std::uint64_t>(-2)));
  ASSERT_TRUE(put("row", "n", counter_of(INT64_MAX)));
  EXPECT_EQ(run_task(table_->increment("row", {0, "n"}, 1)).value(), INT64_MIN);
  EXPECT_EQ(run_task(table_->increment("row", {0, "n"}, 0)).value(), INT64_MIN);
  ASSERT_TRUE(remove("row", "n"));
  EXPECT_EQ(run_task(table_->increment("row", {0, "n"}, 1)).value(), 1);
}

TEST_P(StoreCells, OnlyEightBytesAreACounter) {
  for (const Bytes& value : {Bytes(), Bytes("1234567"), Bytes("123456789")}) {
    ASSERT_TRUE(put("row", "n", value));
    EXPECT_EQ(run_task(table_->increment("row", {0, "n"}, 1)).error().code, Errc::kInvalidArgument);
    EXPECT_EQ(get("row", "n"), value);
  }
}

TEST_P(StoreCells, CountersBeatCellsFromTheFuture) {
  ASSERT_TRUE(put("row", "n", counter_of(40), kTestNow + 90'000));
  EXPECT_EQ(run_task(table_->increment("row", {0, "n"}, 2)).value(), 42);
  EXPECT_EQ(get("row", "n"), counter_of(42));
}

TEST_P(StoreCells, CompareAndPutWritesOnlyOverWhatWasExpected) {
  const auto swap = [this](std::optional<Bytes> expected, Bytes value) {
    return run_task(table_->compare_and_put("row", {0, "q"}, std::move(expected), std::move(value)))
        .value();
  };
  EXPECT_EQ(swap("something", "1"), CasOutcome::kRefused);
  EXPECT_EQ(swap("", "1"), CasOutcome::kRefused);
  EXPECT_EQ(get("row", "q"), std::nullopt);
  EXPECT_EQ(swap(std::nullopt, ""), CasOutcome::kApplied);
  EXPECT_EQ(swap(std::nullopt, "2"), CasOutcome::kRefused);
  EXPECT_EQ(get("row", "q"), "");
  EXPECT_EQ(swap("", "3"), CasOutcome::kApplied);
  EXPECT_EQ(swap("2", "4"), CasOutcome::kRefused);
  EXPECT_EQ(get("row", "q"), "3");
  ASSERT_TRUE(remove("row", "q"));
  EXPECT_EQ(swap(std::nullopt, "5"), CasOutcome::kApplied);
  EXPECT_EQ(get("row", "q"), "5");
}

TEST_P(StoreCells, ACellIsReplacedOnlyAsItWasRead) {
  const auto replace = [this](const Cell& held, std::vector<CellWrite> with) {
    return run_task(table_->replace_cell("row", 0, held, std::move(with)));
  };
  const auto held = [this] { return cells("row").front(); };
  ASSERT_TRUE(put("row", "q", "v1"));
  const Cell first = held();
  const auto outcome = replace({"q", "other", first.time}, {{{0, "r"}, "w", 0}});
  if (!outcome && outcome.error().code == Errc::kUnsupported) GTEST_SKIP() << "cannot";
  EXPECT_EQ(outcome, CasOutcome::kRefused);
  EXPECT_EQ(get("row", "r"), std::nullopt);
  EXPECT_EQ(replace(first, {{{0, "q"}, "v2", first.time}}), CasOutcome::kApplied);
  EXPECT_EQ(get("row", "q"), "v2");
  EXPECT_EQ(replace(first, {}), CasOutcome::kRefused);
  EXPECT_EQ(replace(held(), {{{0, "r"}, "w", first.time}}), CasOutcome::kApplied);
  EXPECT_EQ(get("row", "q"), std::nullopt);
  EXPECT_EQ(get("row", "r"), "w");
  EXPECT_EQ(replace(first, {}), CasOutcome::kRefused);
  EXPECT_EQ(replace({"q", "v", 0}, {{{9, "q"}, "v", 0}}).error().code, Errc::kInvalidArgument);
}

// Only stores that keep their data.
class StoreReopened : public StoreContract {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreReopened);
INSTANTIATE_TEST_SUITE_P(Store, StoreReopened, testing::ValuesIn(lasting_store_kinds()), kind_name);

// Or a cell of this life could not be told from one of the life before by its time.
TEST_P(StoreReopened, StampsGoOnPastThoseBefore) {
  ASSERT_TRUE(put("row", "before", "v"));
  clock_.set(kTestNow - 10'000);
  reopen();
  ASSERT_TRUE(put("row", "after", "v"));
  const std::vector<Cell> found = cells("row");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_GT(found[0].time, found[1].time);  // "after" comes before "before"
}

TEST_P(StoreReopened, EverythingIsThere) {
  ASSERT_TRUE(put("row", "explicit", "newer", kTestNow + 2000));
  ASSERT_TRUE(put("row", "explicit", "older", kTestNow + 1000));
  ASSERT_TRUE(put("row", "gone", "v"));
  ASSERT_TRUE(remove("row", "gone"));
  ASSERT_TRUE(run_task(table_->increment("row", {0, "n"}, 41)));
  ASSERT_TRUE(put("row", "short lived", "v", 0, 1));
  clock_.set(kTestNow - 10'000);
  reopen();
  EXPECT_EQ(get("row", "explicit"), "newer");
  EXPECT_EQ(get("row", "gone"), std::nullopt);
  EXPECT_EQ(get("row", "short lived", 1), "v");
  EXPECT_EQ(run_task(table_->increment("row", {0, "n"}, 1)).value(), 42);
  ASSERT_TRUE(put("row", "explicit", "stamped after reopening"));
  EXPECT_EQ(get("row", "explicit"), "stamped after reopening");
  for (const Cell& cell : cells("row")) EXPECT_GE(cell.time, kTestNow) << cell.qualifier;
  ASSERT_TRUE(put("row", "explicit", "too old", kTestNow + 1999));
  EXPECT_EQ(get("row", "explicit"), "stamped after reopening");
  clock_.set(kTestNow + 60'000);
  EXPECT_EQ(get("row", "short lived", 1), std::nullopt);
  TableSpec other = spec_;
  other.families.pop_back();
  EXPECT_EQ(run_task(harness_->store().open_table(other)).error().code, Errc::kConflict);
}

}  // namespace
}  // namespace halite::storage
