#include "storage/tsdb/chunk_db/tables/chunk_state.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace halite::storage::engine {
namespace {

constexpr std::size_t kUnsealedKeyBytes = kUnsealedPrefix.size() + 1 + 4 + 4;
constexpr std::size_t kUnsealedBytes = 4 + 4 + 1;
constexpr std::size_t kMarkBytes = 16;
constexpr std::uint8_t kWithoutSummary = 1;
constexpr std::uint8_t kLate = 2;

}  // namespace

void UnsealedRange::add(const UnsealedRange& more) {
  if (more.begin_ms < more.end_ms) {
    begin_ms = begin_ms < end_ms ? std::min(begin_ms, more.begin_ms) : more.begin_ms;
    end_ms = std::max(end_ms, more.end_ms);
  }
  without_summary |= more.without_summary;
  ++touches;
}

std::optional<Partition> partition_of(BytesView key) {
  if (key.size() < kShardSlotBytes + kCellKeyBytes) return std::nullopt;
  return Partition{.shard = load_be<std::uint8_t>(key.data()),
                   .slot = load_be<std::uint32_t>(key.data() + 1),
                   .period = load_be<std::uint32_t>(key.data() + key.size() - kCellKeyBytes)};
}

Bytes unsealed_key(const Partition& partition) {
  Bytes key(kUnsealedPrefix);
  key.append(shard_slot_prefix({.shard = partition.shard, .slot = partition.slot}));
  append_be(key, partition.period);
  return key;
}

Bytes unsealed_bytes(const UnsealedRange& unsealed) {
  Bytes bytes;
  append_be(bytes, unsealed.begin_ms);
  append_be(bytes, unsealed.end_ms);
  append_be(bytes, static_cast<std::uint8_t>((unsealed.without_summary ? kWithoutSummary : 0) |
                                             (unsealed.late ? kLate : 0)));
  return bytes;
}

Result<UnsealedRanges::value_type> parse_unsealed(BytesView key, BytesView value) {
  if (key.size() != kUnsealedKeyBytes || value.size() != kUnsealedBytes) {
    return fail(Errc::kCorruption, to_hex(key) + " says nothing of a slot");
  }
  const char* const partition = key.data() + kUnsealedPrefix.size();
  const auto bits = load_be<std::uint8_t>(value.data() + 8);
  return UnsealedRanges::value_type{{.shard = load_be<std::uint8_t>(partition),
                                     .slot = load_be<std::uint32_t>(partition + 1),
                                     .period = load_be<std::uint32_t>(partition + 5)},
                                    {.begin_ms = load_be<std::uint32_t>(value.data()),
                                     .end_ms = load_be<std::uint32_t>(value.data() + 4),
                                     .without_summary = (bits & kWithoutSummary) != 0,
                                     .late = (bits & kLate) != 0,
                                     .touches = 0}};
}

Bytes mark_bytes(const FlushMark& mark) {
  Bytes bytes;
  append_be(bytes, mark.flush_number);
  append_be(bytes, mark.log_position);
  return bytes;
}

Result<FlushMark> parse_mark(BytesView bytes) {
  if (bytes.size() != kMarkBytes) {
    return fail(Errc::kCorruption, fmt::format("the mark of the last flush is {} bytes, not {}",
                                               bytes.size(), kMarkBytes));
  }
  return FlushMark{.flush_number = load_be<std::uint64_t>(bytes.data()),
                   .log_position = load_be<std::uint64_t>(bytes.data() + 8)};
}

}  // namespace halite::storage::engine
