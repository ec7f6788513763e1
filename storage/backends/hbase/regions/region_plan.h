// Plans where a table of points is split into HBase's regions, and finds regions without live data.
//
// Rows of a ring use the same keys in every turn, so its regions are created once: salts times
// every k-th slot, as many as the servers may have. Other tables are split only at their salts;
// HBase splits them further as they grow.
//
//   Dead region  A region of a ring is dead from when all that it can contain has expired at the
//                servers, too, until its first slot is used again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct RegionPlanOptions {
  std::uint32_t servers = 1;       // region servers, at least 1
  std::uint32_t regions_max = 50;  // of the table on each server
};

struct RegionPlan {
  std::vector<Bytes> split_keys;
  std::uint32_t regions = 1;
  bool fixed = false;                  // a ring: no other regions will be needed
  std::uint32_t slots_per_region = 0;  // for a ring
  // The regions that current points go to; twice as many while a slot ends
  std::uint32_t active = 1;
  // How long a region is dead in each turn. 0: never; expired cells then go only when HBase
  // compacts by itself.
  std::int64_t dead_ms = 0;
};

// The longest time between a point's timestamp and its expiry at HBase's servers.
struct CellLifetime {
  std::int64_t late_max_ms = 0;  // a point is written at most this long after its timestamp
  std::int64_t ttl_ms = 0;       // of cells, from when they are written
};

// kInvalidArgument: more salts than permitted regions.
[[nodiscard]] Result<RegionPlan> plan_regions(const CyclicLayout& layout,
                                              const RegionPlanOptions& options,
                                              const CellLifetime& life);

// For other layouts: splits at the salts, `salt_width` bytes each.
[[nodiscard]] RegionPlan plan_salted_regions(std::uint32_t salt_buckets, std::size_t salt_width,
                                             const RegionPlanOptions& options);

// Since when a region of a ring has been dead. Nothing if it may contain live data, or if the
// plan has no such region (other splits, or it begins in one salt and ends in another).
[[nodiscard]] std::optional<TimestampMs> dead_since(const CyclicLayout& layout,
                                                    const KeyRange& region,
                                                    const CellLifetime& life, TimestampMs now);

// The time needed between the end of a slot's data and its next use: twice the major compaction
// interval plus the delay of late points.
[[nodiscard]] std::int64_t ring_cleaning_ms(std::int64_t major_compaction_ms,
                                            std::int64_t late_max_ms);

}  // namespace halite::storage
