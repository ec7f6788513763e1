// Random calls against a store and against a plain map that follows the words of wide_column.h.
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "tests/unit/storage/api/store_contract.h"

namespace halite::storage {
namespace {

using test::run_task;

struct ModelCell {
  Bytes value;
  TimestampMs time = 0;
};
// (family, row, qualifier) -> cell
using CellName = std::tuple<Family, Bytes, Bytes>;

// What the promises say, as simply as possible.
class Model {
 public:
  Model(const FakeClock& clock, bool cluster) : clock_(clock), cluster_(cluster) {}

  void clear() { cells_.clear(); }  // a new table; the store's times go on

  void reopen() { floor_ = seen_ + 1; }

  void write(const std::vector<RowWrite>& rows) {
    if (cluster_) return write_on_cluster(rows);
    seen_ = std::max(seen_, floor_);
    for (const RowWrite& row : rows) {
      erase(row);
      for (const CellWrite& put : row.puts) {
        const TimestampMs time = put.time != 0 ? put.time : std::max(seen_, clock_.now_ms());
        seen_ = std::max(seen_, time);
        set(row.row, put, time);
      }
    }
  }

  // A cluster's servers stamp counters with their own clocks, which are behind ours, but later than
  // what was there.
  void count(const Bytes& row, const Bytes& value) {
    const auto before = cells_.find({0, row, "n"});
    const TimestampMs time = before == cells_.end() ? 0 : before->second.time + 1;
    cells_[{0, row, "n"}] = {value, time};
    seen_ = std::max(seen_, time);
  }

  [[nodiscard]] const ModelCell* find(Family family, const Bytes& row,
                                      const Bytes& qualifier) const {
    const auto it = cells_.find({family, row, qualifier});
    return it != cells_.end() && is_there(family, it->second) ? &it->second : nullptr;
  }

  // The rows a scan gives, its pieces joined.
  [[nodiscard]] std::vector<Row> scan(const ScanSpec& spec) const {
    std::vector<Row> rows;
    for (const auto& [name, cell] : cells_) {
      const auto& [family, row, qualifier] = name;
      if (family != spec.family || !is_there(family, cell) || cell.time < spec.time_begin) continue;
      if (!in_ranges(spec, row) || (spec.rows != nullptr && !spec.rows->matches(row))) continue;
      if (qualifier < spec.qualifier_begin) continue;
      if (!spec.qualifier_end.empty() && qualifier >= spec.qualifier_end) continue;
      if (rows.empty() || rows.back().key != row) {
        rows.push_back({row, {}});
      } else if (spec.keys_only) {
        continue;
      }
      rows.back().cells.push_back({qualifier, spec.keys_only ? Bytes() : cell.value, cell.time});
    }
    if (spec.reverse) std::ranges::reverse(rows);
    return rows;
  }

 private:
  void erase(const RowWrite& row) {
    for (const Column& column : row.deletes) {
      cells_.erase({column.family, row.row, column.qualifier});
    }
  }
  void set(const Bytes& row, const CellWrite& put, TimestampMs time) {
    ModelCell& cell = cells_[{put.column.family, row, put.column.qualifier}];
    if (time >= cell.time) cell = {put.value, time};
  }

  // All is stamped at once; deletes reach up to that time, and what the same call puts there comes
  // a millisecond later.
  void write_on_cluster(const std::vector<RowWrite>& rows) {
    const TimestampMs stamp = std::max(seen_, clock_.now_ms());
    seen_ = stamp;
    std::set<CellName> deleted;
    for (const RowWrite& row : rows) {
      for (const Column& column : row.deletes) {
        deleted.insert({column.family, row.row, column.qualifier});
      }
    }
    if (!deleted.empty()) ++seen_;
    for (const RowWrite& row : rows) {
      erase(row);
      for (const CellWrite& put : row.puts) {
        const bool after = deleted.contains({put.column.family, row.row, put.column.qualifier});
        set(row.row, put, after ? stamp + 1 : stamp);
      }
    }
  }

  [[nodiscard]] bool is_there(Family family, const ModelCell& cell) const {
    return family == 0 || cell.time > clock_.now_ms() - kShortTtlMs;
  }
  static bool in_ranges(const ScanSpec& spec, const Bytes& row) {
    if (spec.ranges.empty()) return true;
    return std::ranges::any_of(spec.ranges, [&row](const KeyRange& range) {
      return row >= range.begin && (range.end.empty() || row < range.end);
    });
  }

  const FakeClock& clock_;
  const bool cluster_;
  TimestampMs seen_ = 0;
  TimestampMs floor_ = 0;  // of stamps since it was opened
  std::map<CellName, ModelCell> cells_;
};

class EvenLength final : public RowFilter {
 public:
  [[nodiscard]] bool matches(BytesView row) const override { return row.size() % 2 == 0; }
};

class StoreModel : public StoreContract {
 protected:
  std::uint32_t below(std::uint32_t bound) {
    return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(random_);
  }

  // Few bytes and short, so that keys meet; 0, 1 and 0xFF, so that escapes are needed.
  Bytes name(std::uint32_t length_max) {
    static constexpr std::string_view kBytes("\x00\x01\x02z\xFE\xFF", 6);
    Bytes bytes(below(length_max + 1), ' ');
    for (char& byte : bytes) byte = kBytes[below(kBytes.size())];
    return bytes;
  }
  Bytes row_key() { return Bytes(1, "\x00z\xFF"[below(3)]) + name(3); }
  Family family() { return static_cast<Family>(below(2)); }

  RowWrite row_write() {
    RowWrite write;
    write.row = row_key();
    for (std::uint32_t i = below(5); i > 0; --i) {
      const bool stamped = below(2) == 0;
      const TimestampMs random = clock_.now_ms() - 1500 + below(2000);
      const TimestampMs time = stamped || GetParam().cluster ? 0 : random;
      write.puts.push_back({{family(), name(2)}, numbered("v", below(1'000'000)), time});
    }
    for (std::uint32_t i = below(3); i > 0; --i) write.deletes.push_back({family(), name(2)});
    return write;
  }

  ScanSpec scan_spec() {
    ScanSpec spec;
    spec.family = family();
    std::vector<Bytes> bounds;
    for (std::uint32_t i = below(4) * 2; i > 0; --i) bounds.push_back(row_key());
    std::ranges::sort(bounds);
    for (std::size_t i = 0; i < bounds.size(); i += 2) {
      spec.ranges.push_back({bounds[i], bounds[i + 1]});
    }
    if (!spec.ranges.empty() && below(4) == 0) spec.ranges.front().begin.clear();
    if (!spec.ranges.empty() && below(4) == 0) spec.ranges.back().end.clear();
    if (below(3) == 0) spec.qualifier_begin = name(2);
    if (below(3) == 0) spec.qualifier_end = name(2);
    if (below(4) == 0 && !GetParam().cluster) spec.time_begin = clock_.now_ms() - below(1500);
    if (below(4) == 0) spec.rows = std::make_shared<EvenLength>();
    spec.keys_only = below(4) == 0;
    spec.reverse = below(2) == 0;
    return spec;
  }

  void write_some() {
    std::vector<RowWrite> rows;
    for (std::uint32_t i = 1 + below(4); i > 0; --i) rows.push_back(row_write());
    model_.write(rows);
    const auto written = run_task(table_->write(std::move(rows)));
    ASSERT_TRUE(written) << written.error().message;
  }

  void increment_some() {
    const Bytes row = row_key();
    const Column column{family(), "n"};
    const std::int64_t delta = std::int64_t{below(100)} - 50;
    const ModelCell* cell = model_.find(column.family, row, "n");
    const std::int64_t before =
        cell == nullptr ? 0 : static_cast<std::int64_t>(load_be<std::uint64_t>(cell->value.data()));
    EXPECT_EQ(run_task(table_->increment(row, column, delta)).value(), before + delta);
    Bytes after;
    append_be(after, static_cast<std::uint64_t>(before + delta));
    if (GetParam().cluster && column.family == 0) {
      model_.count(row, after);
    } else {
      model_.write({{row, {{column, after, 0}}, {}}});
    }
  }

  void compare_and_put_some() {
    const Bytes row = row_key();
    const Column column{family(), name(1)};
    const ModelCell* cell = model_.find(column.family, row, column.qualifier);
    std::optional<Bytes> expected;
    if (cell != nullptr && below(4) != 0) expected = cell->value;
    const bool fits = cell == nullptr ? !expected : expected == cell->value;
    const Bytes value = numbered("cas", below(1'000'000));
    EXPECT_EQ(run_task(table_->compare_and_put(row, column, expected, value)).value(),
              fits ? CasOutcome::kApplied : CasOutcome::kRefused);
    if (fits) model_.write({{row, {{column, value, 0}}, {}}});
  }

  void compare_reads() {
    const Bytes row = row_key();
    const Family asked = family();
    ScanSpec spec;
    spec.family = asked;
    spec.ranges = {{row, row + Bytes(1, '\0')}};
    const std::vector<Row> found = model_.scan(spec);
    EXPECT_EQ(with_times({{row, cells(row, asked)}}),
              with_times({{row, found.empty() ? std::vector<Cell>() : found.front().cells}}));
    const Bytes qualifier = name(2);
    const ModelCell* cell = model_.find(asked, row, qualifier);
    EXPECT_EQ(get(row, qualifier, asked),
              cell == nullptr ? std::nullopt : std::optional<Bytes>(cell->value));
  }

  void compare_scans() {
    const ScanSpec spec = scan_spec();
    const ScanLimit limit{.rows_max = 1 + below(20), .cells_max = 1 + below(30)};
    EXPECT_EQ(with_times(scan(spec, limit)), with_times(model_.scan(spec)));
  }

  static std::vector<std::string> with_times(const std::vector<Row>& rows) {
    const bool times = !GetParam().cluster;
    std::vector<std::string> texts;
    for (const Row& row : rows) {
      std::string text = to_hex(row.key) + ":";
      for (const Cell& cell : row.cells) {
        text += fmt::format(" {}={}@{}", to_hex(cell.qualifier), cell.value, times ? cell.time : 0);
      }
      texts.push_back(std::move(text));
    }
    return texts;
  }

  void one_step() {
    switch (below(16)) {
      case 0:
        clock_.advance(below(700));
        break;
      case 1:
        if (!GetParam().lasts || below(8) != 0) break;
        reopen();
        model_.reopen();
        break;
      case 2:
      case 3:
        increment_some();
        break;
      case 4:
      case 5:
        compare_and_put_some();
        break;
      case 6:
      case 7:
      case 8:
        compare_reads();
        break;
      case 9:
      case 10:
      case 11:
        compare_scans();
        break;
      default:
        write_some();
    }
  }

  std::mt19937 random_;
  Model model_{clock_, GetParam().cluster};
};
INSTANTIATE_TEST_SUITE_P(Store, StoreModel, testing::ValuesIn(store_kinds()), kind_name);

TEST_P(StoreModel, RandomCallsDoWhatTheMapDoes) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    random_.seed(seed);
    model_.clear();
    open(two_families(fmt::format("seed{}", seed)));
    for (int step = 0; step < 400 && !HasFailure(); ++step) {
      SCOPED_TRACE(fmt::format("step {}", step));
      one_step();
    }
  }
}

}  // namespace
}  // namespace halite::storage
