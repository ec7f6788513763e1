#include "storage/cells/delete_points.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/gather.h"
#include "storage/cells/layouts/column.h"

namespace halite::storage {
namespace {

// A column that no row has.
const Bytes kNoColumn(1, '\0');

constexpr TimeRange kAllTimes{0, std::numeric_limits<TimestampMs>::max()};
constexpr std::size_t kColumnsAtOnce = 64;
// Maximum retries of one column; each retry means that another writer made progress.
constexpr int kAttemptsMax = 100;

bool contains(TimeRange range, TimestampMs time) { return time >= range.begin && time < range.end; }

// A column that contains several points, or may at any time.
struct SharedColumn {
  Bytes row;
  RowId id;
  TimeRange times;  // to delete
  Cell held;
};

struct RowPlan {
  std::vector<Column> alone;  // columns to delete, with one point each
  std::vector<SharedColumn> shared;
};

Result<RowPlan> plan(const RowLayout& layout, Family family, const WantedRow& row) {
  RowPlan plan;
  RowPoints points;
  for (const CellRef& cell : row.cells) {
    points.clear();
    TRY_VOID(layout.decode(row.id, {&cell, 1}, kAllTimes, points));
    const bool any = std::ranges::any_of(
        points.times, [&row](TimestampMs time) { return contains(row.times, time); });
    if (!any) continue;
    if (points.times.size() == 1 && cell.qualifier != kAppendQualifier) {
      plan.alone.push_back(Column{family, Bytes(cell.qualifier)});
    } else {
      plan.shared.push_back({Bytes(row.key),
                             row.id,
                             row.times,
                             {Bytes(cell.qualifier), Bytes(cell.value), cell.time}});
    }
  }
  return plan;
}

// The replacement of the column; nullopt if none of its points is deleted. Remaining points keep
// the column's time, so that they still win or lose as before. An append column keeps its form
// while it has points, because concurrent writers append to it.
Result<std::optional<std::vector<CellWrite>>> survivors(const RowLayout& layout, Family family,
                                                        const SharedColumn& column) {
  RowPoints points;
  TRY_VOID(layout.decode(column.id, as_refs({&column.held, 1}), kAllTimes, points));
  const bool appended = column.held.qualifier == kAppendQualifier;
  std::vector<CellWrite> cells;
  bool any_goes = false;
  for (std::size_t i = 0; i < points.times.size(); ++i) {
    if (contains(column.times, points.times[i])) {
      any_goes = true;
    } else if (!appended) {
      PointCell kept = layout.point_cell(points.times[i], points.values[i], points.flags[i]);
      cells.push_back(CellWrite{Column{family, std::move(kept.qualifier)}, std::move(kept.value),
                                column.held.time});
    } else {
      if (cells.empty()) {
        cells.push_back(CellWrite{Column{family, column.held.qualifier}, {}, column.held.time});
      }
      append_entry(cells.front().value, column.id.bucket * 1000, points.times[i], points.values[i],
                   points.flags[i]);
    }
  }
  if (!any_goes) return std::optional<std::vector<CellWrite>>();
  return std::optional(std::move(cells));
}

Task<CasOutcome> replace(const RowSource& source, const SharedColumn& column,
                         std::vector<CellWrite> with) {
  const Result<CasOutcome> outcome =
      co_await source.table->replace_cell(column.row, source.family, column.held, with);
  if (outcome || outcome.error().code != Errc::kUnsupported) co_return outcome;
  // A store without appends: no other caller writes this column now.
  std::vector<RowWrite> writes(1);
  writes[0] = {column.row, std::move(with), {{source.family, column.held.qualifier}}};
  CO_TRY_VOID(co_await source.table->write(std::move(writes)));
  co_return CasOutcome::kApplied;
}

// Keeps points that are added to the column meanwhile and are outside the range.
Task<void> delete_from(const RowSource& source, SharedColumn column) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    CO_TRY(auto with, survivors(source.layout, source.family, column));
    if (!with) co_return Result<void>();
    CO_TRY(const CasOutcome outcome, co_await replace(source, column, *std::move(with)));
    if (outcome == CasOutcome::kApplied) co_return Result<void>();
    std::vector<RowRead> reads(1);
    reads[0] = {column.row, source.family, {column.held.qualifier}};
    CO_TRY(std::vector<Row> rows, co_await source.table->read(std::move(reads)));
    if (rows.front().cells.empty()) co_return Result<void>();
    column.held = std::move(rows.front().cells.front());
  }
  co_return fail(
      Errc::kUnavailable,
      fmt::format(
          "cannot delete points in a column of row {} because other writers keep changing it",
          to_hex(column.row)));
}

}  // namespace

Task<std::uint64_t> delete_points(const RowSource& source,
                                  std::shared_ptr<const RowSelection> selection, TimeRange range,
                                  std::uint32_t shard) {
  RowScan scan(source, std::move(selection), range, shard);
  std::uint64_t deleted = 0;
  for (;;) {
    CO_TRY(const std::vector<WantedRow> rows, co_await scan.next());
    if (rows.empty()) co_return deleted;
    std::vector<RowWrite> writes;
    std::vector<Task<void>> columns;
    for (const WantedRow& row : rows) {
      RowPoints points;
      CO_TRY_VOID(source.layout.decode(row.id, row.cells, row.times, points));
      CO_TRY(RowPlan planned, plan(source.layout, source.family, row));
      deleted += points.times.size();
      // Shared columns keep their times when they are replaced. A delete marker with the time of
      // now shows other processes that the row changes.
      if (source.options.shared_tables && planned.alone.empty() && !planned.shared.empty()) {
        planned.alone.push_back(Column{source.family, kNoColumn});
      }
      if (!planned.alone.empty()) writes.push_back({Bytes(row.key), {}, std::move(planned.alone)});
      for (SharedColumn& column : planned.shared) {
        columns.push_back(delete_from(source, std::move(column)));
      }
    }
    if (!writes.empty()) CO_TRY_VOID(co_await source.table->write(std::move(writes)));
    const auto outcomes = co_await gather(std::move(columns), kColumnsAtOnce);
    for (const Result<void>& outcome : outcomes) CO_TRY_VOID(outcome);
  }
}

}  // namespace halite::storage
