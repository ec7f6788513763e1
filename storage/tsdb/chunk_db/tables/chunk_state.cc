#include "storage/tsdb/chunk_db/tables/chunk_state.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kUnsealedKeyBytes = kUnsealedPrefix.size() + 1 + 4 + 4;
constexpr std::size_t kUnsealedBytes = 4 + 4 + 1;
constexpr std::size_t kMarkBytes = 16;
constexpr std::uint8_t kWithoutSummary = 1;
constexpr std::uint8_t kLate = 2;

}  // namespace

void Unsealed::add(const Unsealed& more) {
  if (more.begin_ms < more.end_ms) {
    begin_ms = begin_ms < end_ms ? std::min(begin_ms, more.begin_ms) : more.begin_ms;
    end_ms = std::max(end_ms, more.end_ms);
  }
  without_summary |= more.without_summary;
  ++touches;
}

std::optional<SlotLap> lap_of(BytesView key) {
  if (key.size() < kPlaceBytes + kCellKeyBytes) return std::nullopt;
  return SlotLap{.shard = load_be<std::uint8_t>(key.data()),
                 .slot = load_be<std::uint32_t>(key.data() + 1),
                 .generation = load_be<std::uint32_t>(key.data() + key.size() - kCellKeyBytes)};
}

Bytes unsealed_key(const SlotLap& lap) {
  Bytes key(kUnsealedPrefix);
  key.append(place_prefix({.shard = lap.shard, .slot = lap.slot}));
  append_be(key, lap.generation);
  return key;
}

Bytes unsealed_bytes(const Unsealed& unsealed) {
  Bytes bytes;
  append_be(bytes, unsealed.begin_ms);
  append_be(bytes, unsealed.end_ms);
  append_be(bytes, static_cast<std::uint8_t>((unsealed.without_summary ? kWithoutSummary : 0) |
                                             (unsealed.late ? kLate : 0)));
  return bytes;
}

Result<UnsealedSlots::value_type> parse_unsealed(BytesView key, BytesView value) {
  if (key.size() != kUnsealedKeyBytes || value.size() != kUnsealedBytes) {
    return fail(Errc::kCorruption, to_hex(key) + " says nothing of a slot");
  }
  const char* const lap = key.data() + kUnsealedPrefix.size();
  const auto bits = load_be<std::uint8_t>(value.data() + 8);
  return UnsealedSlots::value_type{{.shard = load_be<std::uint8_t>(lap),
                                    .slot = load_be<std::uint32_t>(lap + 1),
                                    .generation = load_be<std::uint32_t>(lap + 5)},
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
