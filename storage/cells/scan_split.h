// Splits the scan of a metric's rows into parts that run in parallel.
//
// A region server processes a scan on one core. Each part is a range of series in every bucket of
// the time range, so the rows of a series are in one part and come in time order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "storage/catalog/selection.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct ScanSplitOptions {
  std::size_t splits_max = 4;          // of one query, in all shards
  std::size_t split_series_min = 100;  // smaller parts are not worth a scan
};

// The series of a metric with tsuids in a range, known or not.
struct SeriesRange {
  Bytes begin;  // included; empty = from the first
  Bytes end;    // excluded; empty = to the last
};

[[nodiscard]] inline bool is_everything(const SeriesRange& span) {
  return span.begin.empty() && span.end.empty();
}

// Ranges that together contain everything, ascending, with about equal numbers of the known
// selected series. Returns one range if splitting does not pay, or if a part would have more
// buckets than a request to a server may contain.
[[nodiscard]] std::vector<SeriesRange> split_scan(const ScanSplitOptions& options,
                                                  const SeriesRegistry& registry,
                                                  const RowSelection& selection,
                                                  std::size_t buckets, std::uint32_t shard,
                                                  std::uint32_t shards);

// The buckets of RowLayout::metric_buckets(), narrowed to a range of series: one for each hour or
// other unit of the layout's rows.
[[nodiscard]] std::vector<BucketScan> buckets_of_range(const RowLayout& layout,
                                                       BytesView metric_uid,
                                                       const SeriesRange& span, TimeRange range,
                                                       std::uint32_t shard, TimestampMs now);

}  // namespace halite::storage
