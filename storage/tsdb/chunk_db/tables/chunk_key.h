// The keys of what the engine keeps in RocksDB (docs/formats/engine-chunks.md):
//
//   shard(1) · slot(4) · metric uid · pairs(1) · (tagk uid · tagv uid)... ·
//   period(4) · kind(1) · offset in the span(4, ms) · flush number(8)
//
// All big-endian: a slot's series lie together, a metric's within it, and a series' chunks in the
// order of their first points. `pairs` counts the pairs that follow, so that no series' keys lie
// between another's.
#pragma once

#include <compare>
#include <cstdint>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage::engine {

enum class CellKind : std::uint8_t {
  kChunk = 1,      // points as a flush wrote them; the offset is the first point's
  kSealed = 2,     // points as sealing wrote them
  kTombstone = 3,  // deletes [offset, the value: offset(4)) from all with a lower flush number
};

struct ShardSlot {
  std::uint32_t shard = 0;
  std::uint32_t slot = 0;
  auto operator<=>(const ShardSlot&) const = default;
};

// One lap of a slot in a shard.
struct Partition {
  std::uint32_t shard = 0;
  std::uint32_t slot = 0;
  std::uint32_t period = 0;
  auto operator<=>(const Partition&) const = default;
};

struct CellKey {
  std::uint32_t period = 0;
  CellKind kind = CellKind::kChunk;
  std::uint32_t offset_ms = 0;
  std::uint64_t flush_number = 0;
};

inline constexpr std::size_t kShardSlotBytes = 1 + 4;
inline constexpr std::size_t kCellKeyBytes = 4 + 1 + 4 + 8;  // behind the series
inline constexpr std::size_t kSummaryKeyBytes = 4;           // the same of a summary

// What all keys of a place begin with.
[[nodiscard]] Bytes shard_slot_prefix(ShardSlot shard_slot);
void append_shard_slot(Bytes& to, ShardSlot shard_slot);

// What all keys of a metric, or of a series, in a place begin with.
[[nodiscard]] Bytes metric_prefix(ShardSlot shard_slot, BytesView metric_uid);
[[nodiscard]] Bytes series_prefix(ShardSlot shard_slot, const UidWidths& widths, BytesView tsuid);

void append_cell_key(Bytes& prefix, const CellKey& key);

// The key of a series' summary in one lap of the slot that series_prefix() was made for.
void append_summary_key(Bytes& prefix, std::uint32_t period);

struct ParsedKey {
  ShardSlot shard_slot;
  BytesView series;  // metric uid · pairs · (tagk uid · tagv uid)...: sorts and compares as series
  CellKey cell;
};

// kCorruption for bytes that are no key. Views point into `key`.
[[nodiscard]] Result<ParsedKey> parse_key(const UidWidths& widths, BytesView key);

// metric uid · pairs · ...  <->  tsuid
[[nodiscard]] Bytes series_key(const UidWidths& widths, BytesView tsuid);
[[nodiscard]] Bytes tsuid_of(const UidWidths& widths, BytesView series_key);

}  // namespace halite::storage::engine
