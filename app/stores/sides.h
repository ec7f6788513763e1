// Counters, rollups and histograms beside a store's points. They are always stored as cells.
#pragma once

#include <memory>

#include "app/stores/backend.h"
#include "storage/cells/counters/counter_store.h"
#include "storage/cells/rollups/histogram_cells.h"
#include "storage/cells/rollups/rollup_tables.h"
#include "storage/views/view_store.h"

namespace halite::app {

struct Sides {
  std::unique_ptr<storage::CounterStore> counters;
  std::unique_ptr<storage::RollupTables> rollups;       // null: off
  std::unique_ptr<storage::HistogramCells> histograms;  // null: off
};

// Opens those that are configured, over a backend with open points. `points`: the store that ingest
// uses.
[[nodiscard]] Result<Sides> open_sides(const OpenContext& context, Backend& backend,
                                       storage::PointStore& points);

// Opens the views of a backend's points. Null if other processes may write points.
[[nodiscard]] Result<std::unique_ptr<storage::ViewStore>> open_views(const OpenContext& context,
                                                                     Backend& backend);

}  // namespace halite::app
