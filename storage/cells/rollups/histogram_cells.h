// Stores histograms in the wide-column store: among the points in OpenTSDB's rows, or in a table of
// their own if the points have another layout.
//
//   Durable  write() is durable when it returns.
//   Order    for equal series and time, the last write wins.
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/point_store.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/cells/rollups/replaced_cells.h"
#include "storage/cells/rollups/rollup_config.h"
#include "storage/cells/row_scan.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace halite::storage {

struct HistogramWrite {
  SeriesId series = 0;
  TimestampMs time = 0;
  bool millis = false;  // the sender gave the time in milliseconds
  Bytes value;          // codec id(1) + the codec's bytes
};

// Histograms of one series in strict time order. An empty block means that the series has
// histograms in nearby rows, but none in the range.
struct HistogramBlock {
  SeriesId series = 0;
  std::vector<TimestampMs> times;
  std::vector<Bytes> values;  // as in HistogramWrite
};

// Reads one shard once. Not thread-safe. The blocks of each series come in time order.
class HistogramScan {
 public:
  explicit HistogramScan(std::unique_ptr<RowScan> rows) : rows_(std::move(rows)) {}
  // Some blocks; none at the end of the shard.
  Task<std::vector<HistogramBlock>> next();

 private:
  const std::unique_ptr<RowScan> rows_;
};

class HistogramCells {
 public:
  // References must outlive it.
  struct Dependencies {
    WideColumnStore& store;
    SeriesRegistry& series;
    std::shared_ptr<const OpentsdbLayout> rows;
    RowScanOptions scan;
    std::string table;           // the points' table, if it has OpenTSDB's rows
    std::int64_t cell_ttl_ms;    // of the table; 0 = no expiry
    std::string settings_table;  // contains the table's parameters
    const Clock& clock;
    prometheus::Registry& registry;
  };

  // Creates the table if it does not exist. kConflict: it was made with other widths or salts.
  static Task<std::unique_ptr<HistogramCells>> open(Dependencies dependencies,
                                                    HistogramConfig config);

  [[nodiscard]] const HistogramConfig& config() const { return config_; }

  // Writes all histograms except those refused because no row can contain their time.
  Task<std::vector<Refusal>> write(std::vector<HistogramWrite> histograms);

  [[nodiscard]] const Series& series(SeriesId id) const {
    return dependencies_.series.table().at(id);
  }
  [[nodiscard]] std::uint32_t shard_count() const { return dependencies_.rows->salt_buckets(); }
  [[nodiscard]] std::unique_ptr<HistogramScan> scan(std::shared_ptr<const Selection> selection,
                                                    TimeRange range, std::uint32_t shard) const;

 private:
  HistogramCells(Dependencies dependencies, HistogramConfig config, std::shared_ptr<Table> table);

  const Dependencies dependencies_;
  const HistogramConfig config_;
  const RowSource source_;
  ReplacedCells replaced_;
  prometheus::Counter& written_;
};

}  // namespace halite::storage
