// The keys of the chunk database (docs/formats/engine-chunks.md):
//
//   shard(1) · slot(4) · metric uid · pairs(1) · (tagk uid · tagv uid)... ·
//   period(4) · kind(1) · offset in the span(4, ms) · flush number(8)
//
// All numbers are big-endian. So the series of a slot are adjacent, and so are those of a metric
// within it. The chunks of a series are ordered by their first points. `pairs` is the number of
// tags, so that the keys of one series never lie between those of another.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/api/series.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage::engine {

enum class CellKind : std::uint8_t {
  kChunk = 1,      // points written by a flush; the offset is the first point's
  kSealed = 2,     // points written by sealing
  kTombstone = 3,  // deletes [offset, the value: offset(4)) in cells with a lower flush number
};

struct ShardSlot {
  std::uint32_t shard = 0;
  std::uint32_t slot = 0;
  auto operator<=>(const ShardSlot&) const = default;
};

// The data of one shard in one period.
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
inline constexpr std::size_t kCellKeyBytes = 4 + 1 + 4 + 8;  // after the series
inline constexpr std::size_t kSummaryKeyBytes = 4;           // after the series

// The prefix of all keys of a slot in a shard.
[[nodiscard]] Bytes shard_slot_prefix(ShardSlot shard_slot);
void append_shard_slot(Bytes& to, ShardSlot shard_slot);

// The prefix of all keys of a metric, or of a series, in a slot.
[[nodiscard]] Bytes metric_prefix(ShardSlot shard_slot, BytesView metric_uid);
[[nodiscard]] Bytes series_prefix(ShardSlot shard_slot, const UidWidths& widths, BytesView tsuid);

void append_cell_key(Bytes& prefix, const CellKey& key);

// Appends the period, which completes the key of a series' summary.
void append_summary_key(Bytes& prefix, std::uint32_t period);

struct ParsedKey {
  ShardSlot shard_slot;
  BytesView series;  // metric uid · pairs · (tagk uid · tagv uid)...: sorts like the series
  CellKey cell;
};

// kCorruption for invalid keys. Views point into `key`.
[[nodiscard]] Result<ParsedKey> parse_key(const UidWidths& widths, BytesView key);

// metric uid · pairs · ...  <->  tsuid
[[nodiscard]] Bytes series_key(const UidWidths& widths, BytesView tsuid);
void append_series_key(Bytes& to, const Series& series);

struct SeriesPlace {
  const Series* series = nullptr;
  std::size_t place = 0;   // the caller's
  std::uint64_t word = 0;  // sort_by_key()'s
};
// Sorts series of one metric by their keys.
void sort_by_key(std::span<SeriesPlace> series);

[[nodiscard]] Bytes tsuid_of(const UidWidths& widths, BytesView series_key);

}  // namespace halite::storage::engine
