#include "storage/tsdb/wal/segment_scan.h"

#include <algorithm>

namespace halite::storage::log_format {

namespace {

// No segment has this many records. The limit rejects random bytes before the checksum over a
// random length is computed.
constexpr std::uint64_t kSequencesMax = std::uint64_t{1} << 40;

}  // namespace

SegmentScan scan_segment(BytesView segment, const SegmentKey& key, std::uint64_t first) {
  SegmentScan scan;
  std::uint64_t next = first;
  std::uint64_t group_next = 0;  // the sequence after the group's last record
  std::size_t group_end = 0;     // offset; 0 = not in a group
  std::size_t at = kPageBytes;
  while (at < segment.size()) {
    if (group_end > at && next == group_next) {  // the rest of the page is padding
      at = group_end;
      group_end = 0;
      continue;
    }
    const auto found = read_record(segment, at, key, next, first + kSequencesMax);
    if (!found) {
      at += kRecordAlign;
      continue;
    }
    if (found->kind == RecordKind::kGroup) {
      const GroupHead head = read_group_head(found->payload);
      scan.groups.push_back({head, at});
      scan.synced_upto = std::max(scan.synced_upto, head.synced_upto);
      group_next = head.first + head.records;
      group_end = at + head.bytes;
      // A group without records may follow damaged records; it must not hide the gap.
      if (head.records == 0) next = std::max(next, head.first);
    } else {
      scan.records.push_back({found->sequence, at, found->bytes, found->payload});
      next = found->sequence + 1;
    }
    at += found->bytes;
  }
  return scan;
}

}  // namespace halite::storage::log_format
