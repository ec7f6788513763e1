// The tables of rollups and pre-aggregates, which senders have computed, by interval and
// aggregator.
//
//   Rows     OpenTSDB's (docs/formats/opentsdb-layout.md), whatever layout the points have. An
//            interval configured with the points' table gets a table of its own, because among
//            points its cells could be read as annotations.
//   Durable  write() is durable when it returns.
//   Order    for equal series, time, interval and aggregator, the last write wins.
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
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

struct RollupWrite {
  SeriesId series = 0;
  // Null: an ordinary point among the default interval's pre-aggregates.
  const RollupTableConfig* table = nullptr;
  bool pre_aggregated = false;  // ignored without a table
  std::uint8_t aggregator = 0;  // its id; ignored without a table
  std::int64_t time_s = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;  // PointFlag bits
};

class RollupTables {
 public:
  // References must outlive it.
  struct Dependencies {
    WideColumnStore& store;
    SeriesRegistry& series;
    std::shared_ptr<const OpentsdbLayout> rows;
    RowScanOptions scan;
    std::string data_table;      // of the points
    std::string settings_table;  // contains each table's parameters
    const Clock& clock;
    prometheus::Registry& registry;
  };

  // Creates missing tables. kConflict: one was made with other widths or salts.
  static Task<std::unique_ptr<RollupTables>> open(Dependencies dependencies, RollupConfig config);
  ~RollupTables();

  [[nodiscard]] const RollupConfig& config() const { return config_; }

  // Writes all points except those refused because no row can contain their time.
  Task<std::vector<Refusal>> write(std::vector<RollupWrite> points);

  // The table of an interval of the config, and the rows of all tables.
  [[nodiscard]] const std::shared_ptr<Table>& table_of(const RollupTableConfig& table,
                                                       bool pre_aggregated) const {
    return tables_.at(name_of(&table, pre_aggregated));
  }
  [[nodiscard]] const std::shared_ptr<const OpentsdbLayout>& rows() const {
    return dependencies_.rows;
  }

  // The rollups of an aggregator in a table of the config. `avg` is read as sums with counts. A
  // series that has cells, but none that match, gets an empty block. kInvalidArgument: the
  // aggregator has no id. The source must outlive its scans, and this object the source.
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
  Result<void> add_cell(const RollupWrite& point, Cells& cells) const;

  const Dependencies dependencies_;
  const RollupConfig config_;
  const std::string own_table_;  // used instead of the points' table
  const std::map<std::string, std::shared_ptr<Table>> tables_;
  ReplacedCells replaced_;
  prometheus::Counter& points_;
};

}  // namespace halite::storage
