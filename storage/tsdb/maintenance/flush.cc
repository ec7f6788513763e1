#include "storage/tsdb/maintenance/flush.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/maintenance/all_times.h"
#include "storage/tsdb/maintenance/chunk_writer.h"

namespace halite::storage::engine {
namespace {

Result<std::unique_ptr<ChunkFile>> write_shard(Head& head, std::uint32_t shard_index,
                                               const CyclicLayout& layout, const TsuidOf& tsuid_of,
                                               ChunkFiles& chunks, FlushStats& stats,
                                               std::map<std::int64_t, IdSet>& alive) {
  HeadShard& shard = head.shard(shard_index);
  ChunkWriter writer(layout, CellKind::kChunk, head.number());
  chunk::Points points;
  HeadPoints series;
  std::vector<CellEntry> entries;
  for (std::uint32_t position = 0; position < shard.series_count(); ++position) {
    shard.copy(position, series);
    if (series.points == 0) continue;
    read_points(series, kAllTimes, points);
    const std::size_t before = entries.size();
    writer.add(shard_index, tsuid_of(shard_index, position), points.view(), entries);
    for (const CellEntry& entry : std::span(entries).subspan(before)) {
      alive[entry.partition.period].add(series.id);
    }
    stats.points += points.size();
    stats.newest[shard_index].push_back({.series = series.id,
                                         .time = points.times.back(),
                                         .value = points.values.back(),
                                         .is_float = points.floats[points.size() - 1]});
  }
  std::ranges::sort(entries, {}, &CellEntry::key);
  TRY(auto file, chunks.new_file());
  for (const CellEntry& entry : entries) {
    TRY_VOID(file->put(entry.key, entry.value));
    stats.bytes += entry.key.size() + entry.value.size();
    stats.periods.insert(entry.partition.period);
    stats.changes.touched[entry.partition].add(entry.covers);
  }
  stats.chunks += entries.size();
  return file;
}

}  // namespace

Result<FlushStats> flush_head(Head& head, const Retention& retention, const TsuidOf& tsuid_of,
                              Sequence log_position, ChunkFiles& chunks, ActiveSeries* alive) {
  FlushStats stats;
  stats.newest.resize(head.shard_count());
  std::vector<std::unique_ptr<ChunkFile>> files;
  for (std::uint32_t shard = 0; shard < head.shard_count(); ++shard) {
    if (head.shard(shard).series_count() == 0) continue;
    std::map<std::int64_t, IdSet> written;  // by period
    TRY(auto file,
        write_shard(head, shard, retention.layout_of(shard), tsuid_of, chunks, stats, written));
    for (const auto& [period, ids] : written) {
      if (alive != nullptr) alive->note({.period = period, .shard = shard}, ids);
    }
    files.push_back(std::move(file));
  }
  const FlushMark mark = {.flush_number = head.number(), .log_position = log_position};
  TRY_VOID(chunks.ingest(std::move(files), mark, stats.changes));
  return stats;
}

}  // namespace halite::storage::engine
