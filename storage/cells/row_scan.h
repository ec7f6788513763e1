// Scans the stored rows of a selection in one shard, and skips other rows by their keys.
//
// It reads in one of two ways. If few of a metric's series are selected, it reads the rows of each
// series by key. Otherwise it scans the metric's rows, and a row filter tests each key before cells
// are read. Either way the rows of a series come in time order.
//
//   Threads  not thread-safe.
//
// Over 140 lines because both ways to read share the state of a scan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/api/wide_column.h"
#include "storage/catalog/selection.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/key_pattern.h"
#include "storage/cells/layouts/row_layout.h"
#include "storage/cells/scan_split.h"
#include "storage/cells/series_row_filter.h"

namespace halite::storage {

struct RowScanOptions {
  // Maximum of series read by key, if they are less than half of the metric's.
  std::size_t exact_series_max = 1000;
  // Maximum of rows read by key; above it, the metric is scanned.
  std::size_t exact_rows_max = 200'000;
  std::uint32_t rows_per_batch = 256;
  std::uint32_t cells_per_batch = 65536;
  // Maximum of cells in a row that is decoded whole; 3.6 M is an hour of milliseconds.
  std::size_t row_cells_max = 4'000'000;
  // Other processes write these tables, or OpenTSDB did. The registry may not know all series of a
  // metric, so scans look for rows in the table.
  bool shared_tables = false;
  // With shared_tables: limits of the key patterns sent to servers.
  KeyPatternLimits patterns;
  // With shared_tables: how a scan is split into parallel parts.
  ScanSplitOptions split;
};

// What all scans of a store share. References must outlive the scan.
struct RowSource {
  std::shared_ptr<Table> table;
  Family family = 0;
  const RowLayout& layout;
  SeriesRegistry& registry;
  RowScanOptions options;
  // Reads only cells in this range of each row; empty = as the layout says.
  Bytes qualifier_begin = {};
  Bytes qualifier_end = {};
};

// Views of memory that stays valid until the scan's next call.
struct WantedRow {
  SeriesId series = 0;
  RowId id;
  BytesView key;
  std::span<const CellRef> cells;  // the requested cells of the row, or a part of them
  TimeRange times;                 // the part of the range that these cells can cover
  bool first_piece = true;
  bool last_piece = true;
};

// The approximate number of rows of a series in a range.
[[nodiscard]] std::size_t rows_in(TimeRange range, std::int64_t span_ms);

// Narrows a selection. The default selects all of it.
struct SeriesChoice {
  std::optional<std::vector<SeriesId>> only;
  std::vector<SeriesId> except;
  SeriesRange span;  // for scans of the metric
};

// The series ranges that together make up the shard, one parallel RowScan for each.
[[nodiscard]] std::vector<SeriesRange> scan_splits(const RowSource& source,
                                                   const RowSelection& selection, TimeRange range,
                                                   std::uint32_t shard);

// A part of the scan with its own bounds: one Scanner.
struct RowScanStep {
  ScanSpec spec;
  TimeRange times;
};

class RowScan {
 public:
  // Scans the selected series of the shard that `choice` contains.
  RowScan(const RowSource& source, std::shared_ptr<const RowSelection> selection, TimeRange range,
          std::uint32_t shard, const SeriesChoice& choice = {});

  // Some rows; none at the end of the shard.
  Task<std::vector<WantedRow>> next();

  // The scans that next() would make, for a description; of rows by key, the first thousands.
  [[nodiscard]] std::vector<ScanSpec> planned();

 private:
  void plan(std::uint32_t shard, const SeriesChoice& choice);
  // The hint for the rows of a metric scan; null if it would not save much.
  [[nodiscard]] std::shared_ptr<const ScanHint> hint_for(std::size_t wanted,
                                                         std::size_t of_metric) const;
  void next_exact_steps();
  [[nodiscard]] std::vector<BucketScan> buckets_of(std::uint32_t shard,
                                                   const SeriesRange& span) const;
  void set_steps(std::vector<BucketScan> buckets);
  Task<bool> next_step();
  Task<void> skip_empty_steps();
  Task<void> learn();
  Result<void> take(std::size_t at, std::vector<WantedRow>& out);
  Result<void> check_size(BytesView key, std::size_t cells) const;
  void finish_row(std::vector<WantedRow>& out);

  const RowSource& source_;
  const std::shared_ptr<const RowSelection> selection_;
  const TimeRange range_;
  std::shared_ptr<SeriesRowFilter> row_filter_;

  std::vector<Bytes> exact_;  // tsuids still to be read by key, last first
  bool alone_ = false;        // each bucket is a step, because rows of other parts lie between them
  bool ascending_ = true;     // the order of the steps' keys
  int empty_steps_ = 0;       // number of consecutive steps without a row
  std::vector<RowScanStep> steps_;  // remaining steps, last first
  std::unique_ptr<PackedScanner> scanner_;
  TimeRange times_;           // of the current step
  PackedRows batch_;          // the last batch
  std::vector<RowId> ids_;    // of its rows; no entry for a row that continues
  std::size_t next_row_ = 0;  // next row of the batch to return
  // A row that may continue, and its cells so far if it is decoded whole.
  struct OpenRow {
    SeriesId series = 0;
    RowId id;
    Bytes key;
    TimeRange times;
    bool first_piece = true;
    std::vector<Cell> cells;
    std::vector<CellRef> refs;  // views of the cells, once all are read
  };
  std::optional<OpenRow> open_;
  std::optional<OpenRow> given_;  // the row returned last
  bool skipping_ = false;         // the current row is not selected
  Bytes skipped_key_;
};

}  // namespace halite::storage
