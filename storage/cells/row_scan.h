// The stored rows of a selection in one shard, unwanted ones skipped by their keys.
//
// Two ways to read. Exact rows: when few of a metric's series are wanted, each series' rows are
// asked for by key. Otherwise one walk over the metric's rows, where a row filter decides by key
// before cells are read. Either way a series' rows come in time order.
//
//   Threads  for one coroutine at a time.
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
  // Series asked for by key, when they are less than half of the metric's.
  std::size_t exact_series_max = 1000;
  // And no more rows than this by key; above, the metric is walked.
  std::size_t exact_rows_max = 200'000;
  std::uint32_t rows_per_batch = 256;
  std::uint32_t cells_per_batch = 65536;
  // A row whose cells must be seen together may have no more; 3.6 M is an hour of milliseconds.
  std::size_t row_cells_max = 4'000'000;
  // Other processes write these tables, too, or OpenTSDB did: what the registry knows of a metric
  // is not all there is, so rows are looked for in the table itself.
  bool shared_tables = false;
  // Then whoever has the rows is told what the keys of wanted ones look like.
  KeyPatternLimits patterns;
  // And a walk is cut into parts that are scanned side by side.
  ScanSplitOptions split;
};

// What every scan of one store has in common. All outlive the scan.
struct RowSource {
  std::shared_ptr<Table> table;
  Family family = 0;
  const RowLayout& layout;
  SeriesRegistry& registry;
  RowScanOptions options;
  // Of each row only cells in this range, whatever the layout says; empty = as the layout says.
  Bytes qualifier_begin = {};
  Bytes qualifier_end = {};
};

// Views of what the scan keeps until its next call.
struct WantedRow {
  SeriesId series = 0;
  RowId id;
  BytesView key;
  std::span<const CellRef> cells;  // all of the row that were asked for, or a piece of them
  TimeRange times;                 // what of the asked range counts here
  bool first_piece = true;
  bool last_piece = true;
};

// The rows a series has in a range, about.
[[nodiscard]] std::size_t rows_in(TimeRange range, std::int64_t span_ms);

// Narrows a selection: by default to nothing less than all of it.
struct SeriesChoice {
  std::optional<std::vector<SeriesId>> only;
  std::vector<SeriesId> except;
  SeriesRange span;  // of a walk
};

// The spans whose walks together are the shard's: each a RowScan of its own, side by side.
[[nodiscard]] std::vector<SeriesRange> scan_splits(const RowSource& source,
                                                   const RowSelection& selection, TimeRange range,
                                                   std::uint32_t shard);

// A part of the work with the same bounds: one Scanner.
struct RowScanStep {
  ScanSpec spec;
  TimeRange times;
};

class RowScan {
 public:
  // Of the series that the selection wants in the shard, those of the choice.
  RowScan(const RowSource& source, std::shared_ptr<const RowSelection> selection, TimeRange range,
          std::uint32_t shard, const SeriesChoice& choice = {});

  // Some rows; none when the shard is finished.
  Task<std::vector<WantedRow>> next();

  // What next() would scan, for telling it instead; of rows by key, the first thousands.
  [[nodiscard]] std::vector<ScanSpec> planned();

 private:
  void plan(std::uint32_t shard, const SeriesChoice& choice);
  // What to tell of the rows of a walk; null: nothing that would save much.
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

  std::vector<Bytes> exact_;        // tsuids still to be asked for by key, last first
  bool alone_ = false;              // each bucket is a step: between them lie rows of other parts
  bool ascending_ = true;           // the steps' keys
  int empty_steps_ = 0;             // without a row, one after the other
  std::vector<RowScanStep> steps_;  // still to be done, last first
  std::unique_ptr<PackedScanner> scanner_;
  TimeRange times_;           // of the step under way
  PackedRows batch_;          // what came last
  std::vector<RowId> ids_;    // of its rows; none of one that goes on
  std::size_t next_row_ = 0;  // of it, still to be taken
  // A row whose next piece may still come, and its cells so far where they must be seen together.
  struct OpenRow {
    SeriesId series = 0;
    RowId id;
    Bytes key;
    TimeRange times;
    bool first_piece = true;
    std::vector<Cell> cells;
    std::vector<CellRef> refs;  // to them, once all are there
  };
  std::optional<OpenRow> open_;
  std::optional<OpenRow> given_;  // the one handed out last
  bool skipping_ = false;         // the row under way is not wanted
  Bytes skipped_key_;
};

}  // namespace halite::storage
