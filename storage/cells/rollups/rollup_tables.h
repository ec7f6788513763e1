// The tables of rollups and pre-aggregates: points that somebody else has summed up, by interval
// and aggregator.
//
//   Rows     OpenTSDB's (docs/formats/opentsdb-layout.md), whatever layout the points have. An
//            interval whose table is that of the points themselves gets one of its own beside it:
//            among points its cells could be taken for annotations.
//   Durable  what write() was given outlives a power cut once it has returned.
//   Order    equal series, time, interval and aggregator: the one written last wins.
//   Threads  any call from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/task.h"
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

struct RollupWrite {
  SeriesId series = 0;
  const RollupTableConfig* table = nullptr;  // null: an ordinary point among the default interval's
                                             // pre-aggregates
  bool pre_aggregated = false;               // means nothing without a table
  std::uint8_t aggregator = 0;               // its id; means nothing without a table
  std::int64_t time_s = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;  // PointFlag bits
};

class RollupTables {
 public:
  // References outlive it.
  struct Dependencies {
    WideColumnStore& store;
    SeriesRegistry& series;
    std::shared_ptr<const OpentsdbLayout> rows;
    RowScanOptions scan;
    std::string data_table;      // the points' own
    std::string settings_table;  // where each table's parameters are kept
    const Clock& clock;
    prometheus::Registry& registry;
  };

  // Makes tables that are not there yet. kConflict: one was made with other widths or salts.
  static Task<std::unique_ptr<RollupTables>> open(Dependencies dependencies, RollupConfig config);
  ~RollupTables();

  [[nodiscard]] const RollupConfig& config() const { return config_; }

  // Writes all points but those refused, whose times no row holds.
  Task<std::vector<Refusal>> write(std::vector<RollupWrite> points);

  // What an aggregator left in a table of the config. `avg` is read as sums with counts beside
  // them. A series that has cells there, but none that count, appears with an empty block.
  // kInvalidArgument: the aggregator has no id. The source outlives its scans, this the source.
  [[nodiscard]] Result<std::unique_ptr<BlockSource>> source(const RollupTableConfig& table,
                                                            bool pre_aggregated,
                                                            std::string_view aggregator) const;
  // The ordinary points among the default interval's pre-aggregates.
  [[nodiscard]] std::unique_ptr<BlockSource> pre_aggregates() const;

 private:
  struct Cells;
  RollupTables(Dependencies dependencies, RollupConfig config,
               std::map<std::string, std::shared_ptr<Table>> tables);

  [[nodiscard]] const std::string& name_of(const RollupTableConfig* table,
                                           bool pre_aggregated) const;
  [[nodiscard]] RowSource row_source(const std::string& name, const RowLayout& layout) const;
  Result<void> slot_hash(const RollupWrite& point, Cells& cells) const;

  const Dependencies dependencies_;
  const RollupConfig config_;
  const std::string own_table_;  // instead of the points' own
  const std::map<std::string, std::shared_ptr<Table>> tables_;
  ReplacedCells replaced_;
  prometheus::Counter& points_;
};

}  // namespace halite::storage
