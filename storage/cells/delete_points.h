// Deletes stored points in a range; rewrites columns that also contain other points.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/cells/row_scan.h"

namespace halite::storage {

// Deletes in one shard and returns the number of points. Each row changes atomically.
Task<std::uint64_t> delete_points(const RowSource& source,
                                  std::shared_ptr<const RowSelection> selection, TimeRange range,
                                  std::uint32_t shard);

}  // namespace halite::storage
