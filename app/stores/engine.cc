// Points in the embedded engine: write-ahead log, head and chunks. Names and metadata are cells in
// RocksDB.
#include <filesystem>
#include <utility>

#include "app/server/wait_for.h"
#include "app/stores/backend.h"
#include "app/stores/cells.h"
#include "app/tools/check_tool.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/engine_store.h"

namespace halite::app {

Result<void> open_engine(const OpenContext& context, Backend& to) {
  const Options& options = context.options;
  const storage::CellPointStoreOptions& cells = context.cells;
  TRY_VOID(refuse_missing_names(options));
  TRY_VOID(open_rocks_tables(context, to));
  TRY_VOID(refuse_points_of(StoreKind::kRocksDb, cells.data_table, context, *to.wide));
  storage::EngineOptions engine = options.engine;
  engine.dir = (std::filesystem::path(options.data_dir) / "engine").string();
  engine.series_max = cells.series_max;
  engine.series_bytes_max = cells.series_bytes_max;
  engine.new_series = cells.new_series;
  engine.settings_table = cells.settings_table;
  engine.uid_table = cells.uid_table;
  engine.series_table = cells.series_table;
  TRY(const ChosenLayout chosen,
      cyclic_layout(context, std::string(storage::kEngineParameters), *to.wide));
  const storage::EngineStore::Dependencies dependencies = {
      .store = *to.wide,
      .layout = std::dynamic_pointer_cast<const storage::CyclicLayout>(chosen.layout),
      .clock = context.clock,
      .files =
          options.environment.files != nullptr ? options.environment.files : storage::posix_files(),
      .registry = context.registry,
      .replayed = context.replayed};
  TRY(auto store, wait_for(context.executor, storage::EngineStore::open(dependencies, engine)));
  to.points = std::make_unique<PointStoreHandleOf<storage::EngineStore>>(std::move(store));
  to.widths = chosen.layout->widths();
  return {};
}

}  // namespace halite::app
