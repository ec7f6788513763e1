// Opens the views of a store whose points other processes write, too.
#pragma once

#include <memory>

#include "app/stores/backend.h"
#include "storage/cells/rollups/rollup_tables.h"
#include "storage/views/shared/shared_views.h"

namespace halite::app {

// Null without rules of views, and for stores that one process owns. `rollups` may be null and must
// outlive the views. kInvalidArgument: the rollup tables cannot contain a view.
[[nodiscard]] Result<std::unique_ptr<storage::SharedViews>> open_shared_views(
    const OpenContext& context, Backend& backend, storage::RollupTables* rollups);

}  // namespace halite::app
