#include "storage/delete_points.h"

#include <limits>
#include <utility>

namespace halite::storage {
namespace {

constexpr TimeRange kAllTimes{0, std::numeric_limits<TimestampMs>::max()};

bool contains(TimeRange range, TimestampMs time) { return time >= range.begin && time < range.end; }

// What to change in a row. A column of several points of which some stay (OpenTSDB's compacted and
// append columns) goes, and those that stay become cells of their own with the column's time, so
// that whatever outranked them still does.
Result<RowWrite> plan(const RowLayout& layout, Family family, const WantedRow& row,
                      const std::vector<Cell>& cells) {
  RowWrite write;
  write.row = row.key;
  RowPoints points;
  std::vector<Cell> alone(1);
  for (const Cell& cell : cells) {
    alone.front() = cell;
    points.clear();
    TRY_VOID(layout.decode(row.id, alone, kAllTimes, points));
    std::size_t going = 0;
    for (const TimestampMs time : points.times) going += contains(row.times, time) ? 1 : 0;
    if (going == 0) continue;
    write.deletes.push_back(Column{family, cell.qualifier});
    if (going == points.times.size()) continue;
    for (std::size_t i = 0; i < points.times.size(); ++i) {
      if (contains(row.times, points.times[i])) continue;
      PointCell kept = layout.point_cell(points.times[i], points.values[i], points.flags[i]);
      write.puts.push_back(
          CellWrite{Column{family, std::move(kept.qualifier)}, std::move(kept.value), cell.time});
    }
  }
  return write;
}

}  // namespace

Task<std::uint64_t> delete_points(const RowSource& source,
                                  std::shared_ptr<const RowSelection> selection, TimeRange range,
                                  std::uint32_t shard) {
  RowScan scan(source, std::move(selection), range, shard);
  std::uint64_t deleted = 0;
  std::vector<Cell> scratch;
  for (;;) {
    CO_TRY(const std::vector<WantedRow> rows, co_await scan.next());
    if (rows.empty()) co_return deleted;
    std::vector<RowWrite> writes;
    for (const WantedRow& row : rows) {
      RowPoints points;
      const std::vector<Cell>& cells = owned_cells(row, scratch);
      CO_TRY_VOID(source.layout.decode(row.id, cells, row.times, points));
      CO_TRY(RowWrite write, plan(source.layout, source.family, row, cells));
      if (write.deletes.empty()) continue;
      deleted += points.times.size();
      writes.push_back(std::move(write));
    }
    if (!writes.empty()) CO_TRY_VOID(co_await source.table->write(std::move(writes)));
  }
}

}  // namespace halite::storage
