// Which files of sealed places RocksDB should merge.
//
// Sealing writes what it makes of a place, and what it removes there, into a file of its own above
// those that were there. Merging them rewrites all of the place: it waits until that pays.
#pragma once

#include <cstdint>
#include <set>

#include <rocksdb/db.h>

#include "storage/tsdb/chunk_db/chunk_snapshot.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

// A place is merged when either is reached.
struct MergeRule {
  std::uint32_t fresh_percent = 100;  // bytes of files above the merged ones, of the merged ones'
  std::uint32_t fresh_files = 8;
};

// The sealed places that have files of their own above the merged ones and reached the rule.
[[nodiscard]] std::set<Place> places_to_merge(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* chunks,
                                              const UnsealedSlots& lines, const MergeRule& rule);

}  // namespace halite::storage::engine
