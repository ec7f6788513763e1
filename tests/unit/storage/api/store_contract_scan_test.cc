// Scans: order, ranges, filters, pieces of wide rows.
#include <algorithm>
#include <atomic>

#include "tests/support/test_budget.h"
#include "tests/unit/storage/api/store_contract.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class StoreScan : public StoreContract {
 protected:
  // One row for each letter, with the cells 1, 2 and 3.
  void fill(std::string_view letters) {
    std::vector<RowWrite> rows;
    for (const char letter : letters) {
      RowWrite write;
      write.row = Bytes(1, letter);
      for (const char* qualifier : {"1", "2", "3"}) {
        write.puts.push_back({{0, qualifier}, write.row + qualifier, 0});
      }
      rows.push_back(std::move(write));
    }
    ASSERT_TRUE(run_task(table_->write(std::move(rows))));
  }

  // One row with the qualifiers 000000, 000001, ...
  void fill_wide(const Bytes& row, std::size_t count) {
    RowWrite write;
    write.row = row;
    for (std::size_t i = 0; i < count; ++i) {
      write.puts.push_back({{0, numbered("", i)}, "v", 0});
    }
    ASSERT_TRUE(run_task(table_->write({write})));
  }
};
INSTANTIATE_TEST_SUITE_P(Store, StoreScan, testing::ValuesIn(store_kinds()), kind_name);

class OneOf final : public RowFilter {
 public:
  explicit OneOf(std::string letters) : letters_(std::move(letters)) {}
  [[nodiscard]] bool matches(BytesView row) const override {
    return letters_.find(row) != std::string::npos;
  }

 private:
  std::string letters_;
};

TEST_P(StoreScan, RangesIncludeTheirBeginAndExcludeTheirEnd) {
  fill("bcde");
  ScanSpec spec;
  spec.ranges = {{"b", "d"}};
  EXPECT_THAT(scan_keys(spec), ElementsAre("b", "c"));
  spec.ranges = {{"a", "z"}};
  EXPECT_THAT(scan_keys(spec), ElementsAre("b", "c", "d", "e"));
  spec.ranges = {{"", "c"}};
  EXPECT_THAT(scan_keys(spec), ElementsAre("b"));
  spec.ranges = {{"d", ""}};
  EXPECT_THAT(scan_keys(spec), ElementsAre("d", "e"));
  for (const KeyRange& nothing : {KeyRange{"cc", "d"}, KeyRange{"f", ""}, KeyRange{"", "b"},
                                  KeyRange{"c", "c"}, KeyRange{"d", "b"}}) {
    spec.ranges = {nothing};
    EXPECT_THAT(scan_keys(spec), IsEmpty());
    spec.reverse = true;
    EXPECT_THAT(scan_keys(spec), IsEmpty());
    spec.reverse = false;
  }
}

TEST_P(StoreScan, SeveralRangesAreWalkedInOneGo) {
  fill("abcdefgh");
  ScanSpec spec;
  spec.ranges = {{"", "b"}, {"b", "d"}, {"dd", "e"}, {"f", "g"}, {"h", ""}};
  for (const std::uint32_t rows_max : {1u, 2u, 3u, 100u}) {
    spec.reverse = false;
    EXPECT_THAT(scan_keys(spec, {.rows_max = rows_max}), ElementsAre("a", "b", "c", "f", "h"));
    spec.reverse = true;
    EXPECT_THAT(scan_keys(spec, {.rows_max = rows_max}), ElementsAre("h", "f", "c", "b", "a"));
  }
}

TEST_P(StoreScan, RangesThatHoldNothingAreNoTrouble) {
  fill("abcdefgh");
  ScanSpec spec;
  spec.ranges = {{"b", "c"}, {"g", "a"}, {"c", "d"}, {"d", "d"}, {"e", "f"}};
  EXPECT_THAT(scan_keys(spec), ElementsAre("b", "c", "e"));
  spec.reverse = true;
  EXPECT_THAT(scan_keys(spec), ElementsAre("e", "c", "b"));
}

TEST_P(StoreScan, RangesOutOfOrderAreRefused) {
  for (const std::vector<KeyRange>& ranges : std::vector<std::vector<KeyRange>>{
           {{"c", "d"}, {"a", "b"}}, {{"a", "c"}, {"b", "d"}}, {{"a", ""}, {"b", "c"}}}) {
    ScanSpec spec;
    spec.ranges = ranges;
    EXPECT_EQ(run_task(table_->scan(spec, {})->next({})).error().code, Errc::kInvalidArgument);
  }
}

TEST_P(StoreScan, LimitsOfZeroAreRefused) {
  EXPECT_EQ(run_task(table_->scan({}, {})->next({.rows_max = 0})).error().code,
            Errc::kInvalidArgument);
  EXPECT_EQ(run_task(table_->scan({}, {})->next({.cells_max = 0})).error().code,
            Errc::kInvalidArgument);
}

TEST_P(StoreScan, AFinishedScanStaysFinished) {
  fill("a");
  const auto scanner = table_->scan({}, {});
  EXPECT_THAT(run_task(scanner->next({})).value(), SizeIs(1));
  EXPECT_THAT(run_task(scanner->next({})).value(), IsEmpty());
  fill("b");
  EXPECT_THAT(run_task(scanner->next({})).value(), IsEmpty());
}

TEST_P(StoreScan, BackwardsTurnsRowsNotCells) {
  fill("abc");
  ScanSpec spec;
  spec.reverse = true;
  EXPECT_THAT(texts_of(scan(spec)),
              ElementsAre("c:1=c1 2=c2 3=c3", "b:1=b1 2=b2 3=b3", "a:1=a1 2=a2 3=a3"));
}

TEST_P(StoreScan, RowsThatArePrefixesOfEachOtherStayApart) {
  for (const char* row : {"a", "ab", "abc"}) ASSERT_TRUE(put(row, "c", row));
  ASSERT_TRUE(put("a", "bc", "not ab's c"));
  EXPECT_THAT(texts_of(scan({})), ElementsAre("a:bc=not ab's c c=a", "ab:c=ab", "abc:c=abc"));
  ScanSpec spec;
  spec.ranges = {{"a", "ab"}};
  EXPECT_THAT(scan_keys(spec), ElementsAre("a"));
  spec.ranges = {{Bytes("a\0", 2), "abc"}};
  EXPECT_THAT(scan_keys(spec), ElementsAre("ab"));
}

TEST_P(StoreScan, QualifierRangesCutCellsAndHideEmptyRows) {
  fill("abc");
  ASSERT_TRUE(put("b", "25", "x"));
  ScanSpec spec;
  spec.qualifier_begin = "2";
  spec.qualifier_end = "3";
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("a:2=a2", "b:2=b2 25=x", "c:2=c2"));
  spec.reverse = true;
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("c:2=c2", "b:2=b2 25=x", "a:2=a2"));
  spec.qualifier_begin = "21";
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("b:25=x"));
  spec.qualifier_end = "";
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("c:3=c3", "b:25=x 3=b3", "a:3=a3"));
  spec.qualifier_begin = "4";
  EXPECT_THAT(scan(spec), IsEmpty());
}

TEST_P(StoreScan, QualifierRangesInWideRows) {
  for (const char* row : {"a", "b", "c"}) fill_wide(row, 1000);
  ScanSpec spec;
  spec.qualifier_begin = numbered("", 500);
  spec.qualifier_end = numbered("", 502);
  const std::string pair = "000500=v 000501=v";
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("a:" + pair, "b:" + pair, "c:" + pair));
  spec.reverse = true;
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("c:" + pair, "b:" + pair, "a:" + pair));
}

TEST_P(StoreScan, CellsOlderThanAskedAreNotWanted) {
  ASSERT_TRUE(put("a", "old", "1", 100));
  ASSERT_TRUE(put("b", "old", "2", 100));
  ASSERT_TRUE(put("b", "new", "3", 200));
  ScanSpec spec;
  spec.time_begin = 200;
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("b:new=3"));
  spec.keys_only = true;
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("b:new="));
  spec.deletions = true;  // there are none
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("b:new="));
}

TEST_P(StoreScan, FiltersSeeOneRowOnceAndOnlyInRange) {
  fill("abcdef");
  ScanSpec spec;
  spec.ranges = {{"b", ""}};
  spec.rows = std::make_shared<OneOf>("ace");
  EXPECT_THAT(scan_keys(spec), ElementsAre("c", "e"));
  spec.reverse = true;
  EXPECT_THAT(scan_keys(spec), ElementsAre("e", "c"));
  spec.rows = std::make_shared<OneOf>("");
  EXPECT_THAT(scan_keys(spec), IsEmpty());
}

TEST_P(StoreScan, KeysOnlyGivesOneCellWithoutItsValue) {
  fill("ab");
  fill_wide("w", 1000);
  ScanSpec spec;
  spec.keys_only = true;
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("a:1=", "b:1=", "w:000000="));
  spec.qualifier_begin = "2";
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("a:2=", "b:2="));
  spec.reverse = true;
  EXPECT_THAT(texts_of(scan(spec)), ElementsAre("b:2=", "a:2="));
}

TEST_P(StoreScan, WideRowsComeInPieces) {
  fill_wide("m", 100);
  fill("az");
  for (const bool reverse : {false, true}) {
    ScanSpec spec;
    spec.reverse = reverse;
    const std::vector<Row> whole = scan(spec);
    ASSERT_THAT(whole, SizeIs(3));
    EXPECT_THAT(whole[1].cells, SizeIs(100));
    for (const std::uint32_t cells_max : {1u, 2u, 3u, 7u, 50u, 100u, 103u, 106u, 107u}) {
      EXPECT_EQ(texts_of(scan(spec, {.cells_max = cells_max})), texts_of(whole)) << cells_max;
    }
  }
}

TEST_P(StoreScan, APieceThatEndsWithItsRowIsTheLast) {
  fill("ab");
  const auto scanner = table_->scan({}, {});
  const ScanLimit limit{.rows_max = 10, .cells_max = 3};
  EXPECT_THAT(texts_of(run_task(scanner->next(limit)).value()), ElementsAre("a:1=a1 2=a2 3=a3"));
  EXPECT_THAT(texts_of(run_task(scanner->next(limit)).value()), ElementsAre("b:1=b1 2=b2 3=b3"));
  EXPECT_THAT(run_task(scanner->next(limit)).value(), IsEmpty());
}

TEST_P(StoreScan, SkipsLongRunsOfUnwantedRows) {
  std::vector<RowWrite> rows;
  for (std::size_t i = 0; i < 5000; ++i) {
    rows.push_back({numbered("r", i), {{{0, "q"}, "v", 0}}, {}});
  }
  ASSERT_TRUE(run_task(table_->write(std::move(rows))));
  class Last final : public RowFilter {
   public:
    [[nodiscard]] bool matches(BytesView row) const override { return row == "r004999"; }
  };
  ScanSpec spec;
  spec.rows = std::make_shared<Last>();
  EXPECT_THAT(scan_keys(spec, {.rows_max = 1}), ElementsAre("r004999"));
  spec.rows = nullptr;
  EXPECT_THAT(scan_keys(spec, {.rows_max = 7}), SizeIs(5000));
  EXPECT_THAT(scan_keys(spec), SizeIs(5000));
}

TEST_P(StoreScan, EstimatesAreOffByAFactorAtWorst) {
  if (GetParam().cluster) {
    EXPECT_EQ(run_task(table_->estimate(0, {})).error().code, Errc::kUnsupported);
    return;
  }
  std::vector<RowWrite> rows;
  for (std::size_t i = 0; i < 20'000; ++i) {
    rows.push_back({numbered("r", i), {{{0, "q"}, "value", 0}}, {}});
  }
  ASSERT_TRUE(run_task(table_->write(std::move(rows))));
  const auto estimate = [this](std::vector<KeyRange> ranges) {
    return run_task(table_->estimate(0, std::move(ranges))).value();
  };
  // RocksDB tells it from its skip list, whose towers are as high as chance has it.
  constexpr std::size_t kFactor = 6;
  const RangeEstimate all = estimate({{}});
  EXPECT_GT(all.cells, 20'000U / kFactor);
  EXPECT_LT(all.cells, 20'000U * kFactor);
  EXPECT_GT(all.bytes, all.cells * 5);
  const RangeEstimate half = estimate(
      {{numbered("r", 0), numbered("r", 5'000)}, {numbered("r", 10'000), numbered("r", 15'000)}});
  EXPECT_GT(half.cells, 10'000U / kFactor);
  EXPECT_LT(half.cells, 10'000U * kFactor);
  EXPECT_EQ(estimate({{"s", "t"}}).cells, 0U);
  EXPECT_EQ(estimate({}).cells, 0U);
  EXPECT_FALSE(run_task(table_->estimate(9, {})));
}

// The filter wants nothing, so only the watch can end it before the last row.
TEST_P(StoreScan, EndsSoonWhenItIsNoLongerWanted) {
  std::vector<RowWrite> rows;
  for (std::size_t i = 0; i < 20'000; ++i) {
    rows.push_back({numbered("r", i), {{{0, "q"}, "v", 0}}, {}});
  }
  ASSERT_TRUE(run_task(table_->write(std::move(rows))));
  class Nothing final : public RowFilter {
   public:
    [[nodiscard]] bool matches(BytesView /*row*/) const override {
      ++seen;
      return false;
    }
    mutable std::atomic<std::size_t> seen = 0;
  };
  for (const bool reverse : {false, true}) {
    const auto filter = std::make_shared<Nothing>();
    const auto budget = std::make_shared<test::TestBudget>();
    budget->stop_after(3);
    ScanSpec spec;
    spec.rows = filter;
    spec.reverse = reverse;
    const auto scanner = table_->scan(spec, {.budget = budget});
    const auto stopped = run_task(scanner->next({}));
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, Errc::kCancelled);
    EXPECT_EQ(stopped.error().message, "the test stopped it");
    EXPECT_LT(filter->seen, 10'000U);
    EXPECT_EQ(budget->checks(), 4);
  }
}

TEST_P(StoreScan, RowsWrittenBeforeTheScanAreSeenWhateverComesBetween) {
  fill("acegik");
  const auto scanner = table_->scan({}, {});
  std::vector<Bytes> keys;
  for (const char* noise : {"b", "d", "f", "h", "j", "l", "m"}) {
    const auto rows = run_task(scanner->next({.rows_max = 1}));
    ASSERT_TRUE(rows);
    for (const Row& row : *rows) keys.push_back(row.key);
    ASSERT_TRUE(put(noise, "q", "noise"));
  }
  while (true) {
    const auto rows = run_task(scanner->next({.rows_max = 1}));
    ASSERT_TRUE(rows);
    if (rows->empty()) break;
    keys.push_back(rows->front().key);
  }
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  for (const char* row : {"a", "c", "e", "g", "i", "k"}) {
    EXPECT_THAT(keys, testing::Contains(row));
  }
}

TEST_P(StoreScan, RowsThatVanishUnderAScanAreNoTrouble) {
  for (const bool reverse : {false, true}) {
    fill("abc");
    fill_wide("m", 10);
    ScanSpec spec;
    spec.reverse = reverse;
    const auto scanner = table_->scan(spec, {});
    ASSERT_TRUE(run_task(scanner->next({.cells_max = reverse ? 5u : 11u})));
    RowWrite gone;
    gone.row = "m";
    for (std::size_t i = 0; i < 10; ++i) gone.deletes.push_back({0, numbered("", i)});
    ASSERT_TRUE(run_task(table_->write({gone})));
    const auto rest = run_task(scanner->next({}));
    ASSERT_TRUE(rest) << rest.error().message;
  }
}

}  // namespace
}  // namespace halite::storage
