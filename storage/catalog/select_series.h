// What every point store over a SeriesRegistry does the same way: makes selections, lists their
// series.
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

// As PointStore::select(). Afterwards the registry knows every series of it, unless `shared`: then
// other processes make series, too, and scans look for them.
Task<std::shared_ptr<const Selection>> select_series(SeriesRegistry& registry,
                                                     const RowLayout& layout, SeriesQuery query,
                                                     ReadContext context, TimestampMs now,
                                                     bool shared);

// As PointStore::lookup().
Task<std::vector<SeriesId>> list_series(SeriesRegistry& registry,
                                        std::shared_ptr<const RowSelection> selection,
                                        std::size_t limit, bool shared);

// What the shards found, each by series id, one after the other.
void sort_by_series(std::vector<LastPoint>& points);

// What the shards found, by series id: the end of PointStore::last().
Task<std::vector<LastPoint>> join_last_points(std::vector<Task<std::vector<LastPoint>>> shards);

// The selection as its store made it. It is a bug to give one store another's.
[[nodiscard]] std::shared_ptr<const RowSelection> as_rows(
    const std::shared_ptr<const Selection>& selection);

}  // namespace halite::storage
