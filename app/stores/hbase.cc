// Points as cells in HBase, in tables that other processes and OpenTSDB may also write.
#include <utility>

#include "app/server/wait_for.h"
#include "app/stores/backend.h"
#include "app/stores/cells.h"
#include "app/tools/hbase_tables.h"
#include "storage/backends/hbase/bulk_load/load_directory.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/files/posix_files.h"

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

// What a loader needs of the settings, and what lives as long as the stores.
struct LoaderSource {
  storage::HBaseStore& hbase;
  PointStoreHandle& points;
  storage::TableSpec table;
  std::shared_ptr<const storage::RowLayout> layout;
  storage::hbase::LoadDirectoryOptions directory;
  std::shared_ptr<storage::FileSystem> files;
  const Clock& clock;
  boost::asio::any_io_executor executor;
};

Result<std::unique_ptr<storage::PointLoader>> make_loader(const LoaderSource& from,
                                                          const PointLoad& how) {
  TRY(auto directory, storage::hbase::open_load_directory(how.url, *from.files, from.directory));
  TRY(auto cells, wait_for(from.executor, from.hbase.open_table(from.table)));
  const storage::FamilySpec& family = from.table.families.front();
  storage::PointLoader::Dependencies dependencies{.client = from.hbase.client(),
                                                  .cells = std::move(cells),
                                                  .table = from.hbase.whole_name(from.table.name),
                                                  .family = family.name,
                                                  .expires = family.ttl_ms != 0,
                                                  .layout = from.layout,
                                                  .series = from.points.series().table(),
                                                  .clock = from.clock,
                                                  .directory = std::move(directory)};
  const storage::PointLoaderOptions options{.compression = how.compression,
                                            .fill_gaps = how.fill_gaps};
  return wait_for(from.executor, storage::PointLoader::open(std::move(dependencies), options));
}

}  // namespace

Result<void> open_hbase(const OpenContext& context, Backend& to) {
  const Options& options = context.options;
  TRY_VOID(storage::hbase::Client::check(options.hbase.store.client));
  auto store =
      std::make_unique<storage::HBaseStore>(options.hbase.store, context.clock, context.registry);
  storage::HBaseStore& hbase = *store;
  to.wide = std::move(store);
  TRY(const ChosenLayout chosen, choose_layout(context, hbase));
  const std::string table = hbase.whole_name(context.cells.data_table);
  storage::CellPointStoreOptions cells = context.cells;
  TRY_VOID(plan_regions(context, *chosen.layout, hbase, cells));
  TRY_VOID(open_cells(context, chosen, std::move(cells), to));
  const auto& files = options.environment.files;
  const storage::hbase::ClientOptions& client = options.hbase.store.client;
  LoaderSource source{.hbase = hbase,
                      .points = *to.points,
                      .table = storage::data_table_spec(context.cells),
                      .layout = chosen.layout,
                      .directory = {.user = client.user, .hosts = client.hosts},
                      .files = files != nullptr ? files : storage::posix_files(),
                      .clock = context.clock,
                      .executor = context.executor};
  to.make_point_loader = [source = std::move(source)](const PointLoad& how) {
    return make_loader(source, how);
  };
  auto ring = std::dynamic_pointer_cast<const storage::CyclicLayout>(chosen.layout);
  to.table_regions = [&hbase, table, cyclic = to.point_rows == nullptr] {
    return describe(hbase, table, cyclic);
  };
  if (ring == nullptr || ring->ring_slots() == 0 || options.in_tool) return {};
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
