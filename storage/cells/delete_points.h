// Removes stored points, exactly those asked for: a column that also holds others is rewritten.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/cells/row_scan.h"

namespace halite::storage {

// In one shard; returns how many points are gone. Each row changes all or none.
Task<std::uint64_t> delete_points(const RowSource& source,
                                  std::shared_ptr<const RowSelection> selection, TimeRange range,
                                  std::uint32_t shard);

}  // namespace halite::storage
