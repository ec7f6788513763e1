// An HBaseTable's rows are the same whether a scan gives them as rows or as views.
#include <memory>
#include <random>
#include <string>

#include "tests/unit/storage/backends/hbase/hbase_table_fixture.h"

namespace halite::storage {
namespace {

using test::FakeCall;
using test::FakeReaction;
using test::run_task;

constexpr std::int64_t kTtlMs = 1'000;
constexpr Family kForEver = 0;
constexpr Family kShort = 1;

class EveryThird final : public RowFilter {
 public:
  [[nodiscard]] bool matches(BytesView row) const override { return row.back() % 3 == 0; }
};

class HBaseScanTest : public HBaseTableTest {
 protected:
  HBaseScanTest() {
    open({"r3", "r6"}, kTtlMs);
    hbase_.move_region("t", "r3", 1);
  }

  void fill() {
    std::vector<RowWrite> rows;
    for (int i = 0; i < 40; ++i) {
      RowWrite& row = rows.emplace_back();
      row.row = "r" + std::to_string(i % 10) + static_cast<char>('a' + i / 10);
      for (std::size_t cells = 1 + random_() % 9; cells > 0; --cells) {
        const Family family = random_() % 2 == 0 ? kForEver : kShort;
        const Bytes qualifier(1 + random_() % 3, static_cast<char>('a' + cells));
        row.puts.push_back({.column = {family, qualifier},
                            .value = std::to_string(random_() % 1000),
                            .time = kNow - static_cast<TimestampMs>(random_() % (2 * kTtlMs))});
      }
    }
    ASSERT_TRUE(run_task(table_->write(std::move(rows))));
  }

  static void add(std::string& text, BytesView key, Bytes& last, bool goes_on) {
    if (goes_on && key == last) return;
    text += "\n" + std::string(key) + ":";
    last = key;
  }
  static void add(std::string& text, BytesView qualifier, BytesView value, TimestampMs time) {
    text += " " + std::string(qualifier) + "=" + std::string(value) + "@" + std::to_string(time);
  }

  std::string as_rows(const ScanSpec& spec, ScanLimit limit) {
    const auto scanner = table_->scan(spec, {});
    std::string text;
    Bytes last;
    for (;;) {
      const auto rows = run_task(scanner->next(limit));
      if (!rows) return rows.error().message;
      if (rows->empty()) return text;
      for (const Row& row : *rows) {
        add(text, row.key, last, &row == &rows->front());
        for (const Cell& cell : row.cells) add(text, cell.qualifier, cell.value, cell.time);
      }
    }
  }

  std::string as_views(const ScanSpec& spec) {
    const auto scanner = table_->scan_packed(spec, {});
    std::string text;
    Bytes last;
    for (;;) {
      const auto rows = run_task(scanner->next_packed({}));
      if (!rows) return rows.error().message;
      if (rows->empty()) return text;
      for (const RowRef& row : rows->rows) {
        EXPECT_FALSE(rows->cells_of(row).empty());
        add(text, row.key, last, &row == &rows->rows.front());
        for (const CellRef& cell : rows->cells_of(row)) {
          add(text, cell.qualifier, cell.value, cell.time);
        }
      }
    }
  }

  std::mt19937 random_{5};
};

TEST_F(HBaseScanTest, RowsAndViewsAreTheSame) {
  fill();
  std::size_t longest = 0;
  for (int round = 0; round < 60; ++round) {
    hbase_.set_rows_per_answer(1 + random_() % 12);
    hbase_.set_cells_per_answer(round % 3 == 0 ? 1000 : 1 + random_() % 8);
    if (round % 4 == 0) {
      hbase_.script([number = std::size_t{0}](const FakeCall& call) mutable -> FakeReaction {
        if (call.method != "Scan" || call.table == "hbase:meta" || ++number % 17 != 3) return {};
        return {.what = FakeReaction::kThrow, .exception = "UnknownScannerException"};
      });
    } else {
      hbase_.script([](const FakeCall&) -> FakeReaction { return {}; });
    }
    ScanSpec spec;
    spec.family = random_() % 2 == 0 ? kForEver : kShort;
    if (random_() % 2 == 0) spec.rows = std::make_shared<EveryThird>();
    if (random_() % 2 == 0) spec.ranges = {{"r1", "r4"}};
    spec.keys_only = random_() % 4 == 0;
    spec.reverse = random_() % 4 == 0;
    const ScanLimit limit{.rows_max = 1 + static_cast<std::uint32_t>(random_() % 20),
                          .cells_max = 1 + static_cast<std::uint32_t>(random_() % 40)};
    const std::string views = as_views(spec);
    ASSERT_EQ(views, as_rows(spec, limit)) << round;
    longest = std::max(longest, views.size());
  }
  EXPECT_GT(longest, 1000U);
}

}  // namespace
}  // namespace halite::storage
