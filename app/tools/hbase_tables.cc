#include "app/tools/hbase_tables.h"

#include <algorithm>

#include "app/server/wait_for.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::app {

std::int64_t cell_ttl_ms(const storage::CyclicOptions& layout) {
  return layout.ttl_ms == 0 ? 0 : layout.ttl_ms + layout.future_max_ms;
}

storage::CellLifetime cell_life(const Options& options) {
  const std::int64_t late_ms = options.hbase.late_max_ms;
  return {.late_max_ms = late_ms == 0 ? options.layout.ttl_ms : late_ms,
          .ttl_ms = cell_ttl_ms(options.layout) + options.hbase.store.tables.expire_slack_ms};
}

Result<TablePlan> plan_table(const Options& options, const storage::RowLayout& layout,
                             storage::HBaseStore& store,
                             const boost::asio::any_io_executor& executor) {
  TablePlan plan;
  TRY(plan.servers, wait_for(executor, store.client().servers()));
  storage::RegionPlanOptions wanted;
  wanted.regions_max = options.hbase.regions_max;
  wanted.servers = options.hbase.region_servers;
  if (wanted.servers == 0) {
    wanted.servers = std::max(1u, static_cast<std::uint32_t>(plan.servers.size()));
  }
  if (const auto* cyclic = dynamic_cast<const storage::CyclicLayout*>(&layout)) {
    TRY(plan.regions, storage::plan_regions(*cyclic, wanted, cell_life(options)));
  } else {
    plan.regions = storage::plan_salted_regions(layout.salt_buckets(), options.salt_width, wanted);
  }
  return plan;
}

Result<std::optional<storage::hbase::TableDescriptor>> find_point_table(
    const Options& options, storage::HBaseStore& store,
    const boost::asio::any_io_executor& executor) {
  const std::string name = store.whole_name(options.cells.data_table);
  return wait_for(executor, store.client().describe_table(name));
}

}  // namespace halite::app
