#include "storage/tsdb/maintenance/chunk_writer.h"

#include <algorithm>

namespace halite::storage::engine {

ChunkWriter::ChunkWriter(const CyclicLayout& layout, CellKind kind, std::uint64_t flush_number)
    : layout_(layout), kind_(kind), flush_number_(flush_number) {}

void ChunkWriter::add(std::uint32_t shard, BytesView tsuid, chunk::PointsView points,
                      std::vector<CellEntry>& entries) {
  const std::int64_t span = layout_.options().span_ms;
  const chunk::Level level =
      kind_ == CellKind::kSealed ? chunk::Level::kSealed : chunk::Level::kFast;
  for (std::size_t begin = 0; begin < points.size();) {
    const std::int64_t period = points.times[begin] / span;
    const auto from = points.times.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto slot_end = std::lower_bound(from, points.times.end(), (period + 1) * span);
    const auto count = std::min(static_cast<std::size_t>(slot_end - from), chunk::kChunkPointsMax);
    CellEntry& entry = entries.emplace_back();
    entry.key =
        series_prefix({.shard = shard, .slot = layout_.slot_of(period)}, layout_.widths(), tsuid);
    append_cell_key(entry.key, {.period = static_cast<std::uint32_t>(period),
                                .kind = kind_,
                                .offset_ms = static_cast<std::uint32_t>(*from % span),
                                .flush_number = flush_number_});
    entry.partition = {.shard = shard,
                       .slot = layout_.slot_of(period),
                       .period = static_cast<std::uint32_t>(period)};
    const TimestampMs last = points.times[begin + count - 1];
    entry.covers = {.begin_ms = static_cast<std::uint32_t>(*from % span),
                    .end_ms = static_cast<std::uint32_t>(last % span + 1)};
    encoder_.encode(points.slice(begin, count), level, entry.value);
    begin += count;
  }
}

}  // namespace halite::storage::engine
