// How to split the point table when it is created in HBase, and what its layout implies there.
#pragma once

#include <optional>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "app/settings/options.h"
#include "storage/backends/hbase/messages/table_descriptor.h"
#include "storage/backends/hbase/regions/region_plan.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::app {

struct TablePlan {
  storage::RegionPlan regions;
  std::vector<storage::hbase::ServerStatus> servers;
};

// For the current cluster, or the number of servers in the settings. Call it from a thread that
// does not run the executor.
[[nodiscard]] Result<TablePlan> plan_table(const Options& options, const storage::RowLayout& layout,
                                           storage::HBaseStore& store,
                                           const boost::asio::any_io_executor& executor);

// The descriptor of the point table, if it exists.
[[nodiscard]] Result<std::optional<storage::hbase::TableDescriptor>> find_point_table(
    const Options& options, storage::HBaseStore& store,
    const boost::asio::any_io_executor& executor);

// The lifetime of cells in the cyclic layout, as HBase enforces it.
[[nodiscard]] storage::CellLifetime cell_life(const Options& options);

// A cell may go when no query can reach its point. It may have been written up to future_max before
// the point's timestamp. 0 = never.
[[nodiscard]] std::int64_t cell_ttl_ms(const storage::CyclicOptions& layout);

}  // namespace halite::app
