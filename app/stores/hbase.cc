// Points as cells in HBase, in tables that other processes and OpenTSDB may also write.
#include <utility>

#include "app/server/wait_for.h"
#include "app/stores/backend.h"
#include "app/stores/cells.h"
#include "app/tools/hbase_tables.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/cells/layouts/cyclic_layout.h"

namespace halite::app {
namespace {

// Plans the regions of the point table if it does not exist.
Result<void> plan_regions(const OpenContext& context, const storage::RowLayout& layout,
                          storage::HBaseStore& hbase, storage::CellPointStoreOptions& cells) {
  const Options& options = context.options;
  TRY(const auto table, find_point_table(options, hbase, context.executor));
  if (table || !options.hbase.store.tables.create) return {};
  TRY(const TablePlan plan, plan_table(options, layout, hbase, context.executor));
  cells.split_keys = plan.regions.split_keys;
  cells.fixed_regions = plan.regions.fixed;
  return {};
}

Task<storage::TableRegions> describe(storage::HBaseStore& hbase, std::string table, bool cyclic) {
  auto asking = hbase.client().regions(table);
  CO_TRY(const std::vector<storage::hbase::RegionStatus> regions, co_await std::move(asking));
  co_return storage::describe_regions(table, regions, cyclic);
}

}  // namespace

Result<void> open_hbase(const OpenContext& context, Backend& to) {
  const Options& options = context.options;
  auto store =
      std::make_unique<storage::HBaseStore>(options.hbase.store, context.clock, context.registry);
  storage::HBaseStore& hbase = *store;
  to.wide = std::move(store);
  TRY(const ChosenLayout chosen, choose_layout(context, hbase));
  const std::string table = hbase.whole_name(context.cells.data_table);
  storage::CellPointStoreOptions cells = context.cells;
  TRY_VOID(plan_regions(context, *chosen.layout, hbase, cells));
  TRY_VOID(open_cells(context, chosen, std::move(cells), to));
  auto ring = std::dynamic_pointer_cast<const storage::CyclicLayout>(chosen.layout);
  to.table_regions = [&hbase, table, cyclic = to.point_rows == nullptr] {
    return describe(hbase, table, cyclic);
  };
  if (ring == nullptr || ring->ring_slots() == 0) return {};
  storage::RegionCompactor::Dependencies dependencies{.client = hbase.client(),
                                                      .table = table,
                                                      .layout = std::move(ring),
                                                      .life = cell_life(options),
                                                      .clock = context.clock,
                                                      .registry = context.registry};
  to.region_watch.emplace(storage::RegionCompactor(std::move(dependencies), options.hbase.care),
                          context.executor);
  return {};
}

}  // namespace halite::app
