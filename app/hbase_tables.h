// How the table of points is cut when it is made in HBase, and what follows from its layout there.
#pragma once

#include <optional>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "app/options.h"
#include "storage/backends/hbase/messages/table_descriptor.h"
#include "storage/backends/hbase/regions/region_plan.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::app {

struct TablePlan {
  storage::RegionPlan regions;
  std::vector<storage::hbase::ServerStatus> servers;
};

// For the cluster as it is, or the servers that the settings name. Called from a thread that is not
// the executor's.
[[nodiscard]] Result<TablePlan> plan_table(const Options& options, const storage::RowLayout& layout,
                                           storage::HBaseStore& store,
                                           const boost::asio::any_io_executor& executor);

// Is the table of points there?
[[nodiscard]] Result<std::optional<storage::hbase::TableDescriptor>> find_point_table(
    const Options& options, storage::HBaseStore& store,
    const boost::asio::any_io_executor& executor);

// Of cells in the cyclic layout, as HBase's servers keep them.
[[nodiscard]] storage::CellLifetime cell_life(const Options& options);

// A cell goes when no question can reach its point any more: it may have been written up to
// future_max before its time. 0 = for ever.
[[nodiscard]] std::int64_t cell_ttl_ms(const storage::CyclicOptions& layout);

}  // namespace halite::app
