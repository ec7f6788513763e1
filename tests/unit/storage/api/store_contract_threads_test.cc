// Many callers at once.
#include <atomic>
#include <set>

#include "tests/unit/storage/api/store_contract.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::run_tasks;
using testing::SizeIs;

constexpr std::size_t kThreads = 4;

class StoreThreads : public StoreContract {};
INSTANTIATE_TEST_SUITE_P(Store, StoreThreads, testing::ValuesIn(store_kinds()), kind_name);

Task<void> count(std::shared_ptr<Table> table, Bytes row, int times, std::set<std::int64_t>& sums) {
  for (int i = 0; i < times; ++i) {
    CO_TRY(const std::int64_t sum, co_await table->increment(row, {0, "n"}, 1));
    sums.insert(sum);
  }
  co_return Result<void>();
}

TEST_P(StoreThreads, NoTwoIncrementsSeeTheSameSum) {
  constexpr int kCallers = 50;
  constexpr int kTimes = 20;
  std::vector<std::set<std::int64_t>> sums(kCallers);
  std::vector<Task<void>> tasks;
  tasks.reserve(kCallers);
  for (auto& own : sums) tasks.push_back(count(table_, "counter", kTimes, own));
  for (const auto& outcome : run_tasks(std::move(tasks), kThreads)) {
    ASSERT_TRUE(outcome) << outcome.error().message;
  }
  std::set<std::int64_t> all;
  for (const auto& own : sums) all.insert(own.begin(), own.end());
  EXPECT_THAT(all, SizeIs(kCallers * kTimes));
  EXPECT_EQ(*all.begin(), 1);
  EXPECT_EQ(*all.rbegin(), kCallers * kTimes);
  EXPECT_EQ(run_task(table_->increment("counter", {0, "n"}, 0)).value(), kCallers * kTimes);
}

TEST_P(StoreThreads, OneCompareAndPutWins) {
  constexpr int kRounds = 20;
  constexpr int kCallers = 16;
  std::optional<Bytes> held;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Task<CasOutcome>> tasks;
    tasks.reserve(kCallers);
    for (int caller = 0; caller < kCallers; ++caller) {
      tasks.push_back(table_->compare_and_put("row", {0, "q"}, held,
                                              numbered("round", round * kCallers + caller)));
    }
    const auto outcomes = run_tasks(std::move(tasks), kThreads);
    int winner = -1;
    for (int caller = 0; caller < kCallers; ++caller) {
      ASSERT_TRUE(outcomes[caller]);
      if (*outcomes[caller] != CasOutcome::kApplied) continue;
      EXPECT_EQ(winner, -1) << "two winners";
      winner = caller;
    }
    ASSERT_NE(winner, -1) << "no winner";
    held = get("row", "q");
    EXPECT_EQ(held, numbered("round", round * kCallers + winner));
  }
}

// A lock made of compare-and-put: a lost update shows as a wrong sum.
Task<void> add_by_hand(std::shared_ptr<Table> table, int times) {
  for (int i = 0; i < times;) {
    CO_TRY(const std::vector<Row> rows, co_await table->read({{"row", 0, {"sum"}}}));
    std::optional<Bytes> before;
    if (!rows[0].cells.empty()) before = rows[0].cells[0].value;
    const Bytes after = std::to_string((before ? std::stoi(*before) : 0) + 1);
    CO_TRY(const CasOutcome outcome,
           co_await table->compare_and_put("row", {0, "sum"}, before, after));
    if (outcome == CasOutcome::kApplied) ++i;
  }
  co_return Result<void>();
}

TEST_P(StoreThreads, CompareAndPutLosesNoUpdate) {
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 8; ++i) tasks.push_back(add_by_hand(table_, 10));
  for (const auto& outcome : run_tasks(std::move(tasks), kThreads)) {
    ASSERT_TRUE(outcome) << outcome.error().message;
  }
  EXPECT_EQ(get("row", "sum"), "80");
}

// Writes whole rows of equal values; readers must never see two values in one row.
Task<void> rewrite(std::shared_ptr<Table> table, int writer, int times) {
  for (int i = 0; i < times; ++i) {
    RowWrite write;
    write.row = "row";
    const Bytes value = std::to_string(writer * times + i);
    for (const char* qualifier : {"a", "b", "c"}) {
      write.puts.push_back({{0, qualifier}, value, 0});
    }
    std::vector<RowWrite> rows = {write};
    CO_TRY_VOID(co_await table->write(std::move(rows)));
  }
  co_return Result<void>();
}

Result<void> check_whole(const Row& row) {
  if (row.cells.size() != 3 || row.cells[0].value != row.cells[1].value ||
      row.cells[0].value != row.cells[2].value) {
    return fail(Errc::kInternal, "half a row: " + text_of(row));
  }
  return {};
}

Task<void> check_rows(std::shared_ptr<Table> table, const std::atomic<int>& writers) {
  while (writers > 0) {
    std::vector<RowRead> reads = {{"row", 0, {}}, {"row", 0, {"c", "a", "b"}}};
    CO_TRY(const std::vector<Row> read, co_await table->read(std::move(reads)));
    for (const Row& row : read) CO_TRY_VOID(check_whole(row));
    const std::unique_ptr<Scanner> scanner = table->scan({}, {});
    CO_TRY(const std::vector<Row> scanned, co_await scanner->next({}));
    if (scanned.size() != 1) co_return fail(Errc::kInternal, "the row was not there");
    CO_TRY_VOID(check_whole(scanned.front()));
  }
  co_return Result<void>();
}

Task<void> counted_down(Task<void> task, std::atomic<int>& writers) {
  const Result<void> outcome = co_await std::move(task);
  --writers;
  co_return outcome;
}

TEST_P(StoreThreads, ReadersSeeWholeRows) {
  ASSERT_TRUE(run_task(rewrite(table_, 0, 1)));
  std::atomic<int> writers = 2;
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 2; ++i) tasks.push_back(counted_down(rewrite(table_, i, 100), writers));
  for (int i = 0; i < 2; ++i) tasks.push_back(check_rows(table_, writers));
  for (const auto& outcome : run_tasks(std::move(tasks), kThreads)) {
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
}

Task<void> write_rows(std::shared_ptr<Table> table, std::string prefix, int rows,
                      std::atomic<int>& written) {
  for (int i = 0; i < rows; ++i) {
    std::vector<RowWrite> batch = {{numbered(prefix, i), {{{0, "q"}, "v", 0}}, {}}};
    CO_TRY_VOID(co_await table->write(std::move(batch)));
    written = i + 1;
  }
  co_return Result<void>();
}

// Each scan must hold every row that was acknowledged before it began, in order, once.
Task<void> scan_rows(std::shared_ptr<Table> table, std::string prefix, int rows,
                     const std::atomic<int>& written) {
  int at_least = 0;
  while (at_least < rows) {
    at_least = written;
    ScanSpec spec;
    spec.ranges = {{prefix, prefix_end(prefix)}};
    const std::unique_ptr<Scanner> scanner = table->scan(spec, {});
    int seen = 0;
    while (true) {
      CO_TRY(const std::vector<Row> batch, co_await scanner->next({.rows_max = 7}));
      if (batch.empty()) break;
      for (const Row& row : batch) {
        if (row.key != numbered(prefix, seen)) co_return fail(Errc::kInternal, "gap at " + row.key);
        ++seen;
      }
    }
    if (seen < at_least) co_return fail(Errc::kInternal, "an acknowledged row was not seen");
  }
  co_return Result<void>();
}

TEST_P(StoreThreads, ScansDuringWritesMissNothing) {
  constexpr int kRows = 100;
  std::atomic<int> written[2] = {0, 0};
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 2; ++i) {
    const std::string prefix = numbered("writer", i);
    tasks.push_back(write_rows(table_, prefix, kRows, written[i]));
    tasks.push_back(scan_rows(table_, prefix, kRows, written[i]));
  }
  for (const auto& outcome : run_tasks(std::move(tasks), kThreads)) {
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
}

Task<void> open_again(StoreHarness& harness, std::string name) {
  CO_TRY(const std::shared_ptr<Table> table,
         co_await harness.store().open_table(two_families(name)));
  std::vector<RowWrite> batch = {{"row", {{{0, "q"}, "v", 0}}, {}}};
  co_return co_await table->write(std::move(batch));
}

TEST_P(StoreThreads, TablesMayBeOpenedByManyAtOnce) {
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 20; ++i) tasks.push_back(open_again(*harness_, i % 2 == 0 ? "even" : "odd"));
  for (const auto& outcome : run_tasks(std::move(tasks), kThreads)) {
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
}

}  // namespace
}  // namespace halite::storage
