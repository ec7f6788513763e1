// Finds the whole records of a segment, whatever stands between them.
//
//   Threads  pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes.h"
#include "storage/tsdb/wal/format.h"

namespace halite::storage::log_format {

struct ScannedRecord {
  std::uint64_t sequence = 0;
  std::size_t offset = 0;  // of the record in the segment
  std::size_t bytes = 0;   // of the record, padding too
  BytesView payload;       // in the segment
};

struct ScannedGroup {
  GroupHead head;
  std::size_t offset = 0;  // of the head in the segment
};

struct SegmentScan {
  std::vector<ScannedGroup> groups;    // offsets rise
  std::vector<ScannedRecord> records;  // sequences and offsets rise
  std::uint64_t synced_upto = 0;       // the greatest that a group names; 0 = none does
};

// `first`: the least sequence it may hold. Where no record stands, or not one that may come next,
// the search goes on 8 bytes later: a damaged length costs its record, not those behind.
[[nodiscard]] SegmentScan scan_segment(BytesView segment, const SegmentKey& key,
                                       std::uint64_t first);

}  // namespace halite::storage::log_format
