#include "app/stores/sides.h"

#include <optional>
#include <utility>

#include "app/server/wait_for.h"
#include "app/settings/auxiliary_settings.h"
#include "app/stores/cells.h"

namespace halite::app {

Result<Sides> open_sides(const OpenContext& context, Backend& backend) {
  const Options& options = context.options;
  const storage::CellPointStoreOptions& cells = context.cells;
  TRY(std::optional<storage::RollupConfig> rollups, rollup_config(options));
  TRY(const std::optional<storage::HistogramConfig> histograms, histogram_config(options));
  // The rows have OpenTSDB's layout. Histograms are stored among the points if those have it too.
  const bool opentsdb = backend.point_rows != nullptr;
  TRY(const std::shared_ptr<const storage::OpentsdbLayout> rows,
      storage::OpentsdbLayout::make(opentsdb_rows(options, opentsdb ? options.salt_width : 0)));
  Sides sides;
  if (rollups) {
    storage::RollupTables::Dependencies dependencies{.store = *backend.wide,
                                                     .series = backend.points->series(),
                                                     .rows = rows,
                                                     .scan = cells.scan,
                                                     .data_table = cells.data_table,
                                                     .settings_table = cells.settings_table,
                                                     .clock = context.clock,
                                                     .registry = context.registry};
    auto opening = storage::RollupTables::open(std::move(dependencies), *std::move(rollups));
    TRY(sides.rollups, wait_for(context.executor, std::move(opening)));
  }
  if (histograms) {
    storage::HistogramCells::Dependencies dependencies{
        .store = *backend.wide,
        .series = backend.points->series(),
        .rows = rows,
        .scan = cells.scan,
        .table = opentsdb ? cells.data_table : cells.data_table + "-histogram",
        .cell_ttl_ms = cells.cell_ttl_ms,
        .settings_table = cells.settings_table,
        .clock = context.clock,
        .registry = context.registry};
    auto opening = storage::HistogramCells::open(std::move(dependencies), *histograms);
    TRY(sides.histograms, wait_for(context.executor, std::move(opening)));
  }
  return sides;
}

}  // namespace halite::app
