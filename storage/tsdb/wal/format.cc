#include "storage/tsdb/wal/format.h"

#include <charconv>

#include <fmt/format.h>

#include "common/bytes/crc32c.h"
#include "common/bytes/little_endian.h"
#include "common/check.h"

namespace halite::storage::log_format {

namespace {

constexpr BytesView kSegmentMagic = "halite-log";  // 10 bytes, followed by a 2-byte version
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kSegmentHeadBytes = 40;  // magic, version, salt, number, after, crc
constexpr unsigned kKindShift = 28;
constexpr std::size_t kGroupBodyBytes = kGroupHeadBytes - kRecordHeadBytes;
constexpr BytesView kNameEnd = ".log";
constexpr std::size_t kNameDigits = 16;

// Mixes the 64 bits of a number (the finisher of SplitMix64).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

// The upper four bits of the length word are the kind.
std::uint32_t length_word(RecordKind kind, std::size_t bytes) {
  return static_cast<std::uint32_t>(kind) << kKindShift | static_cast<std::uint32_t>(bytes);
}

}  // namespace

SegmentKey::SegmentKey(std::uint64_t salt, std::uint64_t number)
    : mask_(mixed(salt ^ mixed(number))) {
  char bytes[16];
  store_le(bytes, salt);
  store_le(bytes + 8, number);
  crc_ = crc32c({bytes, sizeof bytes});
}

std::uint32_t SegmentKey::crc(std::uint64_t offset, BytesView length_to_payload_end) const {
  char place[8];
  store_le(place, offset);
  return crc32c(length_to_payload_end, crc32c({place, sizeof place}, crc_));
}

Bytes segment_page(const SegmentHead& head) {
  Bytes page(kSegmentMagic);
  append_le(page, kVersion);
  append_le(page, head.salt);
  append_le(page, head.number);
  append_le(page, head.after);
  append_le(page, crc32c(page));
  page.resize(kPageBytes, '\0');
  return page;
}

Result<SegmentHead> read_segment_page(BytesView page) {
  if (page.size() < kSegmentHeadBytes || !page.starts_with(kSegmentMagic)) {
    return fail(Errc::kCorruption, "it does not start like a log segment");
  }
  const std::size_t summed = kSegmentHeadBytes - sizeof(std::uint32_t);
  if (load_le<std::uint32_t>(page.data() + summed) != crc32c(page.substr(0, summed))) {
    return fail(Errc::kCorruption, "its header is damaged");
  }
  const char* at = page.data() + kSegmentMagic.size();
  const auto version = load_le<std::uint16_t>(at);
  if (version != kVersion) {
    return fail(Errc::kUnsupported,
                fmt::format("it has version {}; this version of Halite reads version {}", version,
                            kVersion));
  }
  at += sizeof version;
  return SegmentHead{load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + 8),
                     load_le<std::uint64_t>(at + 16)};
}

std::string segment_name(std::uint64_t number) { return fmt::format("{:016x}.log", number); }

std::optional<std::uint64_t> segment_number(const std::string& name) {
  if (name.size() != kNameDigits + kNameEnd.size() || !name.ends_with(kNameEnd)) return {};
  std::uint64_t number = 0;
  const char* const end = name.data() + kNameDigits;
  const auto read = std::from_chars(name.data(), end, number, 16);
  if (read.ec != std::errc() || read.ptr != end || segment_name(number) != name) return {};
  return number;
}

void begin_group(Bytes& group) { group.assign(kGroupHeadBytes, '\0'); }

void append_record(Bytes& group, std::uint64_t sequence, BytesView payload) {
  HALITE_CHECK(payload.size() <= kPayloadBytesMax, "a log record is too long for its length field");
  char head[kRecordHeadBytes] = {};
  store_le(head + 4, length_word(RecordKind::kData, payload.size()));
  store_le(head + 8, sequence);  // sealing masks it
  group.append(head, sizeof head);
  group.append(payload);
  group.append(record_bytes(payload.size()) - kRecordHeadBytes - payload.size(), '\0');
}

void seal_group(Bytes& group, std::uint64_t synced_upto, std::uint64_t first, std::uint32_t records,
                const SegmentKey& key, std::uint64_t offset) {
  group.resize(padded(group.size(), kPageBytes), '\0');
  char* const at = group.data();
  store_le(at + 4, length_word(RecordKind::kGroup, kGroupBodyBytes));
  store_le(at + 8, first ^ key.mask());
  store_le(at + 16, synced_upto);
  store_le(at + 24, first);
  store_le(at + 32, records);
  store_le(at + 36, static_cast<std::uint32_t>(group.size()));
  store_le(at, key.crc(offset, {at + 4, kGroupHeadBytes - 4}));
  std::size_t begin = kGroupHeadBytes;
  for (std::uint32_t i = 0; i < records; ++i) {
    char* const record = group.data() + begin;
    const std::size_t payload = load_le<std::uint32_t>(record + 4) & kPayloadBytesMax;
    store_le(record + 8, (first + i) ^ key.mask());
    store_le(record, key.crc(offset + begin, {record + 4, kRecordHeadBytes - 4 + payload}));
    begin += record_bytes(payload);
  }
}

std::optional<FoundRecord> read_record(BytesView segment, std::size_t offset, const SegmentKey& key,
                                       std::uint64_t begin, std::uint64_t end) {
  if (offset > segment.size() || segment.size() - offset < kRecordHeadBytes) return std::nullopt;
  const char* const at = segment.data() + offset;
  // Cheapest checks first: after damage this runs at every position.
  FoundRecord found;
  found.sequence = load_le<std::uint64_t>(at + 8) ^ key.mask();
  if (found.sequence < begin || found.sequence >= end) return std::nullopt;
  const auto word = load_le<std::uint32_t>(at + 4);
  const std::size_t payload = word & kPayloadBytesMax;
  found.kind = static_cast<RecordKind>(word >> kKindShift);
  if (payload > segment.size() - offset - kRecordHeadBytes) return std::nullopt;
  if (found.kind == RecordKind::kGroup) {
    if (payload != kGroupBodyBytes) return std::nullopt;
  } else if (found.kind != RecordKind::kData) {
    return std::nullopt;
  }
  if (load_le<std::uint32_t>(at) != key.crc(offset, {at + 4, kRecordHeadBytes - 4 + payload})) {
    return std::nullopt;
  }
  found.payload = {at + kRecordHeadBytes, payload};
  found.bytes = record_bytes(payload);
  return found;
}

GroupHead read_group_head(BytesView payload) {
  HALITE_CHECK(payload.size() == kGroupBodyBytes, "not the body of a group head");
  const char* const at = payload.data();
  return {load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + 8),
          load_le<std::uint32_t>(at + 16), load_le<std::uint32_t>(at + 20)};
}

}  // namespace halite::storage::log_format
