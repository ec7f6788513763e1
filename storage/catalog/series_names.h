// The names that series have, for lists of metrics, tag keys and values of a key.
//
// Names in memory come from the series table. Only if a series with points in the time may be
// stored but not in memory, the keys of all series rows are read; no series is loaded.
//
//   Lifetime  the registry outlives the call.
#pragma once

#include "common/threads/task.h"
#include "storage/api/point_store.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

// See PointStore::series_names(). Counts the memory of a list of uids against the budget.
Task<void> list_series_names(SeriesRegistry* registry, UidWidths widths, SeriesNamesQuery query,
                             ReadContext context, NameUse use);

}  // namespace halite::storage
