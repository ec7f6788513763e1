// Reads a view for queries: stored totals where its units are built, points elsewhere.
#pragma once

#include <memory>

#include "storage/api/point_store.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/series_table.h"
#include "storage/views/view_changes.h"
#include "storage/views/view_rules.h"
#include "storage/views/view_table.h"

namespace halite::storage {

struct View {
  ViewId id = 0;
  ViewRule rule;
};

struct ViewReading {
  PointStore& points;
  UidTable& uids;
  ViewTable& table;
  const ViewChanges& changes;
  UidWidths widths;
  std::shared_ptr<const View> view;
  TimestampMs kept_from = 0;       // of the points; units that end before are not read from them
  TimestampMs view_kept_from = 0;  // of the view; units that begin before are read from points
  std::size_t bytes_max = 0;       // of the totals computed from points
};

// A source with one shard, whose series are the groups of a view. Its scans return totals of whole
// buckets, also if asked for points; of sketches, those of whole buckets of the request are merged.
// Sketches may be asked for if the view stores them. The selection is that of the points. All
// references must outlive the source, and the source its scans.
[[nodiscard]] std::unique_ptr<BlockSource> view_source(ViewReading reading);

}  // namespace halite::storage
