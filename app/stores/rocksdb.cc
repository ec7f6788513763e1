// Points as cells in RocksDB.
#include "app/stores/backend.h"
#include "app/stores/cells.h"
#include "storage/tsdb/engine_store.h"

namespace halite::app {

Result<void> open_rocksdb(const OpenContext& context, Backend& to) {
  TRY_VOID(open_rocks_tables(context, to));
  TRY_VOID(refuse_points_of(StoreKind::kEngine, std::string(storage::kEngineParameters), context,
                            *to.wide));
  TRY(const ChosenLayout chosen, choose_layout(context, *to.wide));
  return open_cells(context, chosen, context.cells, to);
}

}  // namespace halite::app
