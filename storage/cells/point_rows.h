// Points as what is written to their rows' cells.
//
// A cell a point, unless ColumnForm says otherwise; then, and only in OpenTSDB's rows, points that
// come together share a column:
//
//   kBackfill  those of one row whose hour is over become one compacted column
//   kAppend    all go to the end of their row's append column
//
// Who reads lets the newest cell win where a time stands in several; inside an append column, the
// last entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::storage {

enum class ColumnForm : std::uint8_t { kSingle, kBackfill, kAppend };

struct ColumnOptions {
  ColumnForm form = ColumnForm::kSingle;
  std::size_t points_max = 3600;  // of one compacted column
};

// A point of equal time that one of the batch takes the place of.
struct ReplacedPoint {
  std::uint32_t index = 0;  // in the batch: the new point
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

// One of the two is empty.
struct PointWrites {
  std::vector<RowWrite> rows;
  std::vector<CellAppend> appends;
};

class PointRows {
 public:
  // The table outlives it. Other rows than OpenTSDB's have a cell a point.
  PointRows(std::shared_ptr<const RowLayout> layout, const SeriesTable& series, Family family,
            ColumnOptions options);

  // The batch's points in `order`: by series, then time, none twice. `replaced` is in that order,
  // too; where the old point's cell has another name, it is deleted.
  [[nodiscard]] PointWrites make(const PointBatch& batch, const std::vector<std::uint32_t>& order,
                                 const std::vector<ReplacedPoint>& replaced, TimestampMs now) const;

  // A cell that replaces another may have another name, and wins by its time.
  [[nodiscard]] bool times_decide() const;

 private:
  using Points = std::span<const std::uint32_t>;  // of one row, as indexes in the batch
  using Replaced = std::vector<ReplacedPoint>::const_iterator;

  void add_single(const PointBatch& batch, Points points, RowWrite& row) const;
  void add_compacted(const PointBatch& batch, Points points, RowWrite& row) const;
  void add_entries(const PointBatch& batch, Points points, Bytes row,
                   std::vector<CellAppend>& appends) const;
  // Those of `replaced` that the points stand for; returns where the next row's begin.
  Replaced delete_replaced(const PointBatch& batch, Points points, Replaced replaced, Replaced end,
                           RowWrite& row) const;

  const std::shared_ptr<const RowLayout> layout_;
  const bool opentsdb_;
  const SeriesTable& series_;
  const Family family_;
  const ColumnOptions options_;
};

}  // namespace halite::storage
