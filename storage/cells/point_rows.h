// Converts points into writes to the cells of their rows.
//
// Each point gets a cell, unless ColumnForm says otherwise. Then, in OpenTSDB's rows only, points
// of one batch share a column:
//
//   kBackfill  points of a row whose hour is over become one compacted column
//   kAppend    all points go to the end of their row's append column
//
// If a time occurs in several cells, readers use the newest cell; inside an append column, the last
// entry.
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
  std::size_t points_max = 3600;  // in one compacted column
};

// An earlier point that a point of the batch with an equal time replaces.
struct ReplacedPoint {
  std::uint32_t index = 0;  // index of the new point in the batch
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

// One of the two vectors is empty.
struct PointWrites {
  std::vector<RowWrite> rows;
  std::vector<CellAppend> appends;
};

class PointRows {
 public:
  // The table must outlive it. Rows that are not OpenTSDB's get one cell for each point.
  PointRows(std::shared_ptr<const RowLayout> layout, const SeriesTable& series, Family family,
            ColumnOptions options);

  // The batch's points in `order`: by series, then time, without duplicates. `replaced` has that
  // order, too; if the old point's cell has another qualifier, it is deleted.
  [[nodiscard]] PointWrites make(const PointBatch& batch, const std::vector<std::uint32_t>& order,
                                 const std::vector<ReplacedPoint>& replaced, TimestampMs now) const;

  // Whether a replacing cell may have another qualifier, so that it wins by its cell time.
  [[nodiscard]] bool times_decide() const;

 private:
  using Points = std::span<const std::uint32_t>;  // points of one row, as indexes in the batch
  using Replaced = std::vector<ReplacedPoint>::const_iterator;

  void add_single(const PointBatch& batch, Points points, RowWrite& row) const;
  void add_compacted(const PointBatch& batch, Points points, RowWrite& row) const;
  void add_entries(const PointBatch& batch, Points points, Bytes row,
                   std::vector<CellAppend>& appends) const;
  // Deletes the points that `points` replace; returns the begin of the next row's.
  Replaced delete_replaced(const PointBatch& batch, Points points, Replaced replaced, Replaced end,
                           RowWrite& row) const;

  const std::shared_ptr<const RowLayout> layout_;
  const bool opentsdb_;
  const SeriesTable& series_;
  const Family family_;
  const ColumnOptions options_;
};

}  // namespace halite::storage
