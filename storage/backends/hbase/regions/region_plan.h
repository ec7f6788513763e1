// Where a table of points is cut into HBase's regions, and which of them hold nothing any more.
//
// Rows of a ring use the same keys lap after lap, so its regions are made once: salts times every
// k-th slot, as many as the servers may have. Other rows are cut at their salts only, and HBase
// goes on cutting where they grow.
//
//   A region  of a ring is dead from when all that it can hold has expired at the servers, too,
//             until its first slot comes round again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct RegionPlanOptions {
  std::uint32_t servers = 1;       // region servers, 1 or more
  std::uint32_t regions_max = 50;  // of the table, a server
};

struct RegionPlan {
  std::vector<Bytes> split_keys;
  std::uint32_t regions = 1;
  bool fixed = false;                  // a ring: no others will ever be needed
  std::uint32_t slots_per_region = 0;  // of a ring
  // To which points of this moment go; twice as many while a slot ends.
  std::uint32_t active = 1;
  // How long a region is dead in each lap; 0: it never is, and expired cells go only when HBase
  // compacts by itself.
  std::int64_t dead_ms = 0;
};

// What expires at HBase's servers how long after a point's time, at most.
struct CellLifetime {
  std::int64_t late_max_ms = 0;  // it may have been written so long after
  std::int64_t ttl_ms = 0;       // of cells, from the time of their writing
};

// kInvalidArgument: more salts than regions are allowed.
[[nodiscard]] Result<RegionPlan> plan_regions(const CyclicLayout& layout,
                                              const RegionPlanOptions& options,
                                              const CellLifetime& life);

// The other layouts: cut at salts, `salt_width` bytes each.
[[nodiscard]] RegionPlan plan_salted_regions(std::uint32_t salt_buckets, std::size_t salt_width,
                                             const RegionPlanOptions& options);

// Since when a region of a ring has been dead; nothing where it may hold something that lives, or
// is no region of a plan (it was cut elsewhere, or begins in one salt and ends in another).
[[nodiscard]] std::optional<TimestampMs> dead_since(const CyclicLayout& layout,
                                                    const KeyRange& region,
                                                    const CellLifetime& life, TimestampMs now);

// Twice the time between two major compactions, and what comes late: so long must pass between the
// end of a slot's life and its next use.
[[nodiscard]] std::int64_t ring_cleaning_ms(std::int64_t major_compaction_ms,
                                            std::int64_t late_max_ms);

}  // namespace halite::storage
