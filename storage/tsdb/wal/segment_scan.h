// Finds the complete records of a segment, whatever is between them.
//
//   Threads  pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "storage/tsdb/wal/format.h"

namespace halite::storage::log_format {

struct ScannedRecord {
  std::uint64_t sequence = 0;
  std::size_t offset = 0;  // of the record in the segment
  std::size_t bytes = 0;   // of the record, with padding
  BytesView payload;       // points into the segment
};

struct ScannedGroup {
  GroupHead head;
  std::size_t offset = 0;  // of the head in the segment
};

struct SegmentScan {
  std::vector<ScannedGroup> groups;    // in ascending order of offset
  std::vector<ScannedRecord> records;  // in ascending order of sequence and offset
  std::uint64_t synced_upto = 0;       // greatest of all groups; 0 = none
};

// `first`: the least valid sequence. If there is no valid record at a position, the search
// continues 8 bytes later. So a damaged length loses its record, but not those after it.
[[nodiscard]] SegmentScan scan_segment(BytesView segment, const SegmentKey& key,
                                       std::uint64_t first);

}  // namespace halite::storage::log_format
