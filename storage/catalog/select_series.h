// Makes and lists selections, for every point store that uses a SeriesRegistry.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "common/clock.h"
#include "storage/api/point_store.h"
#include "storage/catalog/selection.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

// See PointStore::select(). Afterwards the registry has loaded every series of the metric, unless
// `shared`: then other processes also create series, and scans look for them.
Task<std::shared_ptr<const Selection>> select_series(SeriesRegistry& registry,
                                                     const RowLayout& layout, SeriesQuery query,
                                                     ReadContext context, TimestampMs now,
                                                     bool shared);

// See PointStore::lookup().
Task<PinnedSeries> list_series(SeriesRegistry& registry,
                               std::shared_ptr<const RowSelection> selection, std::size_t limit,
                               bool shared);

// Sorts the results of all shards by series id; each shard's are sorted.
void sort_by_series(std::vector<LastPoint>& points);

// Collects the results of all shards, ordered by series id, for PointStore::last().
Task<std::vector<LastPoint>> join_last_points(std::vector<Task<std::vector<LastPoint>>> shards);

// Casts a selection to its type. Pass only selections that the same store made.
[[nodiscard]] std::shared_ptr<const RowSelection> as_rows(
    const std::shared_ptr<const Selection>& selection);

}  // namespace halite::storage
