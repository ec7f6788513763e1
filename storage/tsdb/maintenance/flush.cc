#include "storage/tsdb/maintenance/flush.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk/summary.h"
#include "storage/tsdb/chunk_db/slot_reader.h"
#include "storage/tsdb/core/all_times.h"
#include "storage/tsdb/maintenance/chunk_writer.h"

namespace halite::storage::engine {
namespace {

// A file of sealed chunks ends at the first border of slots after so many bytes: damage of one file
// and the compaction of one slot should not affect too many others.
constexpr std::uint64_t kSealedFileBytes = 16 << 20;

std::uint64_t bytes_of(const std::vector<CellEntry>& entries) {
  std::uint64_t bytes = 0;
  for (const CellEntry& entry : entries) bytes += entry.key.size() + entry.value.size();
  return bytes;
}

// The cells of one shard.
class ShardFlush {
 public:
  ShardFlush(std::uint32_t shard, std::uint64_t flush_number, const CyclicLayout& layout,
             ChunkFiles& chunks, DirectSealing* direct)
      : shard_(shard),
        layout_(layout),
        chunks_(chunks),
        direct_(direct),
        fast_(layout, CellKind::kChunk, flush_number),
        dense_(layout, CellKind::kSealed, flush_number) {}

  // Adds all points of a series. Returns the periods.
  std::vector<std::int64_t> add(BytesView tsuid, chunk::PointsView points);
  Result<void> write(FlushStats& stats, std::vector<std::unique_ptr<ChunkFile>>& files);

 private:
  void add_slot(BytesView tsuid, chunk::PointsView points, const Partition& partition);
  void add_summary(chunk::PointsView points, const CellEntry& chunk);
  void unseal();
  Result<void> put_chunks(FlushStats& stats, std::vector<std::unique_ptr<ChunkFile>>& files);
  Result<void> put_sealed(FlushStats& stats, std::vector<std::unique_ptr<ChunkFile>>& files);

  const std::uint32_t shard_;
  const CyclicLayout& layout_;
  ChunkFiles& chunks_;
  DirectSealing* const direct_;  // null: seals nothing
  ChunkWriter fast_;
  ChunkWriter dense_;
  std::vector<CellEntry> unsealed_;
  std::vector<CellEntry> sealed_;
  std::vector<CellEntry> summaries_;
};

std::vector<std::int64_t> ShardFlush::add(BytesView tsuid, chunk::PointsView points) {
  const std::int64_t span = layout_.options().span_ms;
  std::vector<std::int64_t> periods;
  for (std::size_t begin = 0; begin < points.size();) {
    const std::int64_t period = points.times[begin] / span;
    const auto from = points.times.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = std::lower_bound(from, points.times.end(), (period + 1) * span);
    const auto count = static_cast<std::size_t>(to - from);
    add_slot(tsuid, points.slice(begin, count),
             {.shard = shard_,
              .slot = layout_.slot_of(period),
              .period = static_cast<std::uint32_t>(period)});
    periods.push_back(period);
    begin += count;
  }
  return periods;
}

void ShardFlush::add_slot(BytesView tsuid, chunk::PointsView points, const Partition& partition) {
  const bool seals =
      direct_ != nullptr &&
      direct_->may_seal(partition, series_prefix({.shard = shard_, .slot = partition.slot},
                                                 layout_.widths(), tsuid));
  if (!seals) {
    fast_.add(shard_, tsuid, points, unsealed_);
    return;
  }
  dense_.add(shard_, tsuid, points, sealed_);
  add_summary(points, sealed_.back());
}

void ShardFlush::add_summary(chunk::PointsView points, const CellEntry& chunk) {
  CellEntry& summary = summaries_.emplace_back();
  summary.partition = chunk.partition;
  summary.key = chunk.key.substr(0, chunk.key.size() - kCellKeyBytes);
  append_summary_key(summary.key, chunk.partition.period);
  if (points.size() <= chunk::kChunkPointsMax && has_summaries(layout_)) {
    chunk::encode_summaries(points, kSummarySpanMs, summary.value);
  }
}

// Too few for files of their own: turns them into chunks that sealing will rewrite.
void ShardFlush::unseal() {
  for (CellEntry& entry : sealed_) {
    entry.key[entry.key.size() - kCellKeyBytes + sizeof(std::uint32_t)] =
        static_cast<char>(CellKind::kChunk);
    unsealed_.push_back(std::move(entry));
  }
  sealed_.clear();
  summaries_.clear();
}

Result<void> ShardFlush::write(FlushStats& stats, std::vector<std::unique_ptr<ChunkFile>>& files) {
  if (direct_ != nullptr && bytes_of(sealed_) < direct_->bytes_min()) unseal();
  TRY_VOID(put_chunks(stats, files));
  return sealed_.empty() ? Result<void>() : put_sealed(stats, files);
}

Result<void> ShardFlush::put_chunks(FlushStats& stats,
                                    std::vector<std::unique_ptr<ChunkFile>>& files) {
  std::ranges::sort(unsealed_, {}, &CellEntry::key);
  TRY(auto file, chunks_.new_file());
  for (const CellEntry& entry : unsealed_) {
    TRY_VOID(file->put(entry.key, entry.value));
    stats.periods.insert(entry.partition.period);
    stats.changes.touched[entry.partition].add(entry.covers);
  }
  stats.bytes += bytes_of(unsealed_);
  stats.chunks += unsealed_.size();
  files.push_back(std::move(file));
  return {};
}

Result<void> ShardFlush::put_sealed(FlushStats& stats,
                                    std::vector<std::unique_ptr<ChunkFile>>& files) {
  std::ranges::sort(sealed_, {}, &CellEntry::key);
  std::ranges::sort(summaries_, {}, &CellEntry::key);
  std::unique_ptr<ChunkFile> file;
  const Partition* last = nullptr;
  for (const CellEntry& entry : sealed_) {
    if (last == nullptr || *last != entry.partition) {
      if (file != nullptr && file->bytes() >= kSealedFileBytes) files.push_back(std::move(file));
      stats.periods.insert(entry.partition.period);
      stats.changes.sealed_directly.push_back(entry.partition);
      last = &entry.partition;
    }
    if (file == nullptr) {
      TRY(file, chunks_.new_file(FilePurpose::kSealed));
    }
    TRY_VOID(file->put(entry.key, entry.value));
  }
  files.push_back(std::move(file));
  TRY(file, chunks_.new_file(FilePurpose::kSummaries));
  for (const CellEntry& summary : summaries_) TRY_VOID(file->put(summary.key, summary.value));
  files.push_back(std::move(file));
  stats.bytes += bytes_of(sealed_) + bytes_of(summaries_);
  stats.chunks += sealed_.size();
  return {};
}

// By period: the series with chunks in it.
using Written = std::map<std::int64_t, IdSet>;

Written read_shard(HeadShard& shard, std::uint32_t shard_index, const TsuidOf& tsuid_of,
                   ShardFlush& flush, FlushStats& stats) {
  Written written;
  chunk::Points points;
  HeadPoints series;
  for (std::uint32_t position = 0; position < shard.series_count(); ++position) {
    shard.copy(position, series);
    if (series.points == 0) continue;
    read_points(series, kAllTimes, points);
    for (const std::int64_t period : flush.add(tsuid_of(shard_index, position), points.view())) {
      written[period].add(series.id);
    }
    stats.points += points.size();
    stats.newest[shard_index].push_back({.series = series.id,
                                         .time = points.times.back(),
                                         .value = points.values.back(),
                                         .is_float = points.floats[points.size() - 1]});
  }
  return written;
}

}  // namespace

Result<FlushStats> flush_head(Head& head, const Retention& retention, const TsuidOf& tsuid_of,
                              Sequence log_position, ChunkFiles& chunks, ActiveSeries* alive,
                              DirectSealing* direct) {
  FlushStats stats;
  stats.newest.resize(head.shard_count());
  std::vector<std::unique_ptr<ChunkFile>> files;
  for (std::uint32_t shard = 0; shard < head.shard_count(); ++shard) {
    if (head.shard(shard).series_count() == 0) continue;
    ShardFlush flush(shard, head.number(), retention.layout_of(shard), chunks, direct);
    const Written written = read_shard(head.shard(shard), shard, tsuid_of, flush, stats);
    TRY_VOID(flush.write(stats, files));
    for (const auto& [period, ids] : written) {
      if (alive != nullptr) alive->note({.period = period, .shard = shard}, ids);
    }
  }
  const FlushMark mark = {.flush_number = head.number(), .log_position = log_position};
  TRY_VOID(chunks.ingest(std::move(files), mark, stats.changes));
  return stats;
}

}  // namespace halite::storage::engine
