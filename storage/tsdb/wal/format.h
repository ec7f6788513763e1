// The bytes of a log segment: its header page, and records that are valid only in this segment.
// Tables: docs/formats/log.md.
//
//   Threads  pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/bytes/bytes.h"
#include "common/result.h"

namespace halite::storage::log_format {

// Groups begin and end at page borders. So a commit never writes to a page that an earlier commit
// synced, and the system never reads a page before it writes it.
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kRecordHeadBytes = 16;  // crc(4) length and kind(4) sequence(8)
inline constexpr std::size_t kRecordAlign = 8;
inline constexpr std::size_t kGroupHeadBytes = 40;  // a record with the body of a GroupHead
inline constexpr std::size_t kPayloadBytesMax = (1u << 28) - 1;
// No setting allows a larger file (engine.log_segment_bytes), so the log did not write one.
inline constexpr std::uint64_t kSegmentBytesMax = std::uint64_t{4} << 30;

enum class RecordKind : std::uint8_t { kGroup = 1, kData = 2 };

struct SegmentHead {
  std::uint64_t salt = 0;    // of the whole log, random
  std::uint64_t number = 0;  // 1, 2, 3...; never reused
  std::uint64_t after = 0;  // the last sequence before this segment; greater ones in older segments
                            // were cut off and are not part of the log
  bool operator==(const SegmentHead&) const = default;
};

// The description of a group and of the log before it.
struct GroupHead {
  std::uint64_t synced_upto =
      0;  // all records up to this sequence were durable when the group was written
  std::uint64_t first = 0;  // sequence of its first record; last + 1 if the group is empty
  std::uint32_t records = 0;
  std::uint32_t bytes = 0;  // from the group's head to the next page border
  bool operator==(const GroupHead&) const = default;
};

// Makes the records of one segment invalid in any other: it is part of their checksums and masks
// their sequences. So remains of an earlier use of the file, and payloads that look like records,
// are rejected.
class SegmentKey {
 public:
  SegmentKey(std::uint64_t salt, std::uint64_t number);
  [[nodiscard]] std::uint32_t crc(std::uint64_t offset, BytesView length_to_payload_end) const;
  [[nodiscard]] std::uint64_t mask() const { return mask_; }

 private:
  std::uint32_t crc_;
  std::uint64_t mask_;
};

// A complete header page.
[[nodiscard]] Bytes segment_page(const SegmentHead& head);
// kCorruption: not a header. kUnsupported: a newer version.
[[nodiscard]] Result<SegmentHead> read_segment_page(BytesView page);

// "000000000000000c.log" for 12, and the reverse.
[[nodiscard]] std::string segment_name(std::uint64_t number);
[[nodiscard]] std::optional<std::uint64_t> segment_number(const std::string& name);

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes, std::size_t border) {
  return (bytes + border - 1) / border * border;
}
// The bytes that a record with this payload occupies.
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t payload_bytes) {
  return padded(kRecordHeadBytes + payload_bytes, kRecordAlign);
}

// A group on its way: begin_group, append_record..., then seal_group when it is known where in
// which segment it goes.
void begin_group(Bytes& group);
void append_record(Bytes& group, std::uint64_t sequence, BytesView payload);
// Completes the group's head, pads the group to the page border, and sets the checksum of every
// record. The group is then valid only at `offset` of that segment. It may be sealed again for
// another place.
void seal_group(Bytes& group, std::uint64_t synced_upto, std::uint64_t first, std::uint32_t records,
                const SegmentKey& key, std::uint64_t offset);

// A record of a segment.
struct FoundRecord {
  RecordKind kind = RecordKind::kData;
  std::uint64_t sequence = 0;
  BytesView payload;
  std::size_t bytes = 0;  // in the segment, with padding
};

// The record at `offset` of the segment, if a complete one is there and its sequence is in [begin,
// end).
[[nodiscard]] std::optional<FoundRecord> read_record(BytesView segment, std::size_t offset,
                                                     const SegmentKey& key, std::uint64_t begin,
                                                     std::uint64_t end);
[[nodiscard]] GroupHead read_group_head(BytesView payload);  // of a kGroup record

}  // namespace halite::storage::log_format
