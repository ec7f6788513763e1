// A walk over a metric's rows, cut so that several scans do it side by side.
//
// A region server goes through one scan's rows on one processor. Parts are ranges of series, in
// every bucket of the time asked for: a series' rows are in one part, so they come in time order
// whatever becomes of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "storage/catalog/selection.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct ScanSplitOptions {
  std::size_t splits_max = 4;          // of one question, in all shards
  std::size_t split_series_min = 100;  // fewer are not worth a scan of their own
};

// Those of a metric's series whose tsuids are in a range, known or not.
struct SeriesRange {
  Bytes begin;  // included; empty = from the first
  Bytes end;    // excluded; empty = to the last
};

[[nodiscard]] inline bool is_everything(const SeriesRange& span) {
  return span.begin.empty() && span.end.empty();
}

// Spans that together are everything, ascending; of the wanted series that are known, each has
// about as many. One span where parts are not worth their scans, or would be of more buckets than a
// server is told at a time.
[[nodiscard]] std::vector<SeriesRange> split_scan(const ScanSplitOptions& options,
                                                  const SeriesRegistry& registry,
                                                  const RowSelection& selection,
                                                  std::size_t buckets, std::uint32_t shard,
                                                  std::uint32_t shards);

// The buckets that RowLayout::metric_buckets() tells of, narrowed to the span: then one an hour, or
// whatever else the layout has rows of.
[[nodiscard]] std::vector<BucketScan> buckets_of_range(const RowLayout& layout,
                                                       BytesView metric_uid,
                                                       const SeriesRange& span, TimeRange range,
                                                       std::uint32_t shard, TimestampMs now);

}  // namespace halite::storage
