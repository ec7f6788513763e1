// The bytes of a log segment: its header page, and records that belong to this segment only.
// docs/formats/log.md has the tables.
//
//   Threads  pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/bytes.h"
#include "common/result.h"

namespace halite::storage::log_format {

// Groups begin and end at page borders: a commit never writes to a page that an earlier one has
// synced, and never makes the system read a page before it writes it.
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kRecordHeadBytes = 16;  // crc(4) length and kind(4) sequence(8)
inline constexpr std::size_t kRecordAlign = 8;
inline constexpr std::size_t kGroupHeadBytes = 40;  // a record with the body of a GroupHead
inline constexpr std::size_t kPayloadBytesMax = (1u << 28) - 1;
// No setting allows a longer file (engine.log_segment_bytes): one that is was not made so by a log.
inline constexpr std::uint64_t kSegmentBytesMax = std::uint64_t{4} << 30;

enum class RecordKind : std::uint8_t { kGroup = 1, kData = 2 };

struct SegmentHead {
  std::uint64_t salt = 0;    // of the whole log, drawn when it was made
  std::uint64_t number = 0;  // 1, 2, 3...; never used again
  std::uint64_t after = 0;   // the last sequence before it: what older segments hold above it was
                             // cut off and is not part of the log
  bool operator==(const SegmentHead&) const = default;
};

// What a group says of itself and of the log before it.
struct GroupHead {
  std::uint64_t synced_upto =
      0;                    // all records up to this sequence were durable when it was written
  std::uint64_t first = 0;  // sequence of its first record; last + 1 for a group of none
  std::uint32_t records = 0;
  std::uint32_t bytes = 0;  // of the group from its head to the next page border
  bool operator==(const GroupHead&) const = default;
};

// What makes a record of one segment of one log fail in any other: part of its checksum, and the
// mask of its sequence. So the remains of a segment's earlier life never pass, nor does a payload
// that looks like records.
class SegmentKey {
 public:
  SegmentKey(std::uint64_t salt, std::uint64_t number);
  [[nodiscard]] std::uint32_t crc(std::uint64_t offset, BytesView length_to_payload_end) const;
  [[nodiscard]] std::uint64_t mask() const { return mask_; }

 private:
  std::uint32_t crc_;
  std::uint64_t mask_;
};

// A whole header page.
[[nodiscard]] Bytes segment_page(const SegmentHead& head);
// kCorruption: not a header. kUnsupported: of a newer version.
[[nodiscard]] Result<SegmentHead> read_segment_page(BytesView page);

// "000000000000000c.log" of 12, and back.
[[nodiscard]] std::string segment_name(std::uint64_t number);
[[nodiscard]] std::optional<std::uint64_t> segment_number(const std::string& name);

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes, std::size_t border) {
  return (bytes + border - 1) / border * border;
}
// What a record of so many payload bytes takes.
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t payload_bytes) {
  return padded(kRecordHeadBytes + payload_bytes, kRecordAlign);
}

// A group on its way: begin_group, append_record..., then seal_group when it is known where in
// which segment it goes.
void begin_group(Bytes& group);
void append_record(Bytes& group, std::uint64_t sequence, BytesView payload);
// Fills in the group's head, pads it to the page border, and gives every record its checksum. The
// group then belongs at `offset` of that segment, nowhere else; it may be sealed again for another.
void seal_group(Bytes& group, std::uint64_t synced_upto, std::uint64_t first, std::uint32_t records,
                const SegmentKey& key, std::uint64_t offset);

// One record of a segment.
struct FoundRecord {
  RecordKind kind = RecordKind::kData;
  std::uint64_t sequence = 0;
  BytesView payload;
  std::size_t bytes = 0;  // of the segment, padding too
};

// The record at `offset` of the segment, if a whole one stands there whose sequence is in
// [begin, end).
[[nodiscard]] std::optional<FoundRecord> read_record(BytesView segment, std::size_t offset,
                                                     const SegmentKey& key, std::uint64_t begin,
                                                     std::uint64_t end);
[[nodiscard]] GroupHead read_group_head(BytesView payload);  // of a kGroup record

}  // namespace halite::storage::log_format
