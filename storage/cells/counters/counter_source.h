// The stored sums of counters as blocks of points, for queries.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/api/point_store.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/counters/counter_rules.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/cells/row_scan.h"

namespace halite::storage {

inline constexpr Family kCounterFamily = 0;              // of the sums in each table
inline constexpr std::uint8_t kCounterAggregatorId = 0;  // in their qualifiers

struct SumTimes {
  TimestampMs now = 0;     // hides the buckets that are no longer kept
  TimestampMs all_at = 0;  // where the sum of all time appears
};

// The sums in one bucket's table. The registry must outlive the source, and the source its scans.
[[nodiscard]] std::unique_ptr<BlockSource> stored_sums(const CounterBucket& bucket,
                                                       std::shared_ptr<const OpentsdbLayout> rows,
                                                       std::shared_ptr<Table> table,
                                                       SeriesRegistry& registry,
                                                       const RowScanOptions& options,
                                                       SumTimes times);

// For a table that does not exist yet.
[[nodiscard]] std::unique_ptr<BlockSource> no_sums(const PointStore& points);

}  // namespace halite::storage
