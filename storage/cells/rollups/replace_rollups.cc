#include "storage/cells/rollups/replace_rollups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "storage/cells/layouts/rollup_cell.h"
#include "storage/cells/layouts/rollup_layout.h"

namespace halite::storage {
namespace {

constexpr Family kFamily = 0;
constexpr std::size_t kWritesTogether = 1024;

using RowCells = std::map<Bytes, Bytes>;  // value by qualifier

// The cells of all totals, by row.
Result<std::map<Bytes, RowCells>> cells_of(const RollupTables& tables,
                                           const RollupReplacement& replacement) {
  std::map<Bytes, RowCells> rows;
  for (const RollupTotal& total : replacement.totals) {
    TRY(RollupCell made, rollup_cell(*tables.rows(), replacement.table->cells, total.aggregator,
                                     total.tsuid, total.time_s, total.value, total.flags));
    rows[std::move(made.row)][std::move(made.cell.qualifier)] = std::move(made.cell.value);
  }
  return rows;
}

class Replacer {
 public:
  Replacer(const RollupTables& tables, const RollupReplacement& replacement,
           std::map<Bytes, RowCells> wanted)
      : rows_(*tables.rows()),
        replacement_(replacement),
        table_(tables.table_of(*replacement.table, replacement.pre_aggregated)),
        wanted_(std::move(wanted)) {}

  // Compares the stored rows of a salt with what they should contain.
  Task<void> compare(KeyRange keys) {
    ScanSpec spec;
    spec.family = kFamily;
    spec.ranges.push_back(std::move(keys));
    const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
    while (true) {
      auto next = scanner->next({});
      CO_TRY(std::vector<Row> rows, co_await std::move(next));
      if (rows.empty()) break;
      for (Row& row : rows) CO_TRY_VOID(take(std::move(row)));
      auto writing = write(kWritesTogether);
      CO_TRY_VOID(co_await std::move(writing));
    }
    CO_TRY_VOID(compare_row(std::exchange(row_, {})));
    co_return Result<void>{};
  }

  // Writes what no stored row had.
  Task<void> finish() {
    for (auto& [key, cells] : wanted_) {
      for (auto& [qualifier, value] : cells) put(key, qualifier, std::move(value));
      auto writing = write(kWritesTogether);
      CO_TRY_VOID(co_await std::move(writing));
    }
    auto writing = write(1);
    co_return co_await std::move(writing);
  }

 private:
  RowWrite& change_of(const Bytes& key) {
    if (writes_.empty() || writes_.back().row != key) writes_.emplace_back().row = key;
    return writes_.back();
  }
  void put(const Bytes& key, const Bytes& qualifier, Bytes value) {
    change_of(key).puts.push_back({.column = {kFamily, qualifier}, .value = std::move(value)});
  }

  // A long row comes in several parts.
  Result<void> take(Row row) {
    if (row.key == row_.key) {
      std::ranges::move(row.cells, std::back_inserter(row_.cells));
      return {};
    }
    return compare_row(std::exchange(row_, std::move(row)));
  }

  Result<void> compare_row(const Row& row) {
    if (row.cells.empty()) return {};
    const Result<RowId> parsed = rows_.parse_row(row.key);
    if (!parsed) {
      replacement_.unreadable(row.key, parsed.error());
      return {};
    }
    const RowId& id = *parsed;
    TRY(const SeriesUids series, parse_tsuid(rows_.widths(), id.tsuid));
    const auto wanted = wanted_.find(row.key);
    for (const Cell& cell : row.cells) {
      const auto point =
          read_rollup(replacement_.table->cells, id.bucket, cell.qualifier, cell.value);
      if (!point) continue;
      const auto* const aggregator = std::get_if<std::uint8_t>(&point->aggregator);
      const TimestampMs time = point->time_s * 1000;
      const bool is_ours = aggregator != nullptr && time >= replacement_.times.begin &&
                           time < replacement_.times.end &&
                           replacement_.replaces(series, *aggregator);
      if (!is_ours) continue;
      if (wanted != wanted_.end()) {
        const auto same = wanted->second.find(cell.qualifier);
        if (same != wanted->second.end()) {
          if (same->second != cell.value) put(row.key, cell.qualifier, std::move(same->second));
          wanted->second.erase(same);
          continue;
        }
      }
      change_of(row.key).deletes.push_back({kFamily, cell.qualifier});
    }
    if (wanted == wanted_.end() || writes_.empty() || writes_.back().row != row.key) return {};
    // New cells together with the deletes, so that a value whose form changes does not vanish.
    for (auto& [qualifier, value] : wanted->second) put(row.key, qualifier, std::move(value));
    wanted->second.clear();
    return {};
  }

  Task<void> write(std::size_t at_least) {
    if (writes_.size() < at_least) co_return Result<void>{};
    CO_TRY(const WriteEnd end, replacement_.may_write());
    auto writing = table_->write_until(std::exchange(writes_, {}), end);
    co_return co_await std::move(writing);
  }

  const OpentsdbLayout& rows_;
  const RollupReplacement& replacement_;
  const std::shared_ptr<Table> table_;
  std::map<Bytes, RowCells> wanted_;  // and not stored yet
  Row row_;                           // whose parts are being read
  std::vector<RowWrite> writes_;
};

}  // namespace

Task<void> replace_rollups(const RollupTables& tables, RollupReplacement replacement) {
  CO_TRY(auto wanted, cells_of(tables, replacement));
  Replacer replacer(tables, replacement, std::move(wanted));
  // The aggregator has no effect on keys.
  const RollupLayout layout(tables.rows(), replacement.table->cells, {});
  for (std::uint32_t salt = 0; salt < layout.salt_buckets(); ++salt) {
    for (BucketScan& scan : layout.metric_buckets(replacement.metric, replacement.times, salt, 0)) {
      auto comparing = replacer.compare(std::move(scan.keys));
      CO_TRY_VOID(co_await std::move(comparing));
    }
  }
  auto finishing = replacer.finish();
  co_return co_await std::move(finishing);
}

}  // namespace halite::storage
