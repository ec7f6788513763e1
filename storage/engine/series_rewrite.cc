#include "storage/engine/series_rewrite.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/engine/chunk_writer.h"
#include "storage/engine/slot_reader.h"
#include "storage/engine/span_totals.h"

namespace halite::storage::engine {
namespace {

constexpr TimeRange kAlways = {.begin = 0, .end = INT64_MAX};

Result<void> make_missing(ChunkDb& chunks, std::unique_ptr<ChunkFile>& file, FileFor purpose) {
  if (file != nullptr) return {};
  TRY(file, chunks.new_file(purpose));
  return {};
}

}  // namespace

void SeriesRewrite::begin(BytesView series) {
  series_ = series;
  cells_.clear();
  unsealed_ = false;
  expired_ = false;
  late_cells_ = 0;
  late_bytes_ = 0;
  sealed_bytes_ = 0;
}

void SeriesRewrite::add(const ParsedKey& key, const Cursor& cursor) {
  const bool expired = key.cell.generation < oldest_alive_;
  if (key.cell.generation != generation_ && !expired) return;
  const BytesView value = cursor.value();
  Cell& cell = cells_.emplace_back();
  cell.cell = key.cell;
  cell.key = cursor.key();
  cell.value = value;
  cell.late = cursor.at_late();
  const std::uint64_t bytes = cell.key.size() + value.size();
  if (cell.late) {
    ++late_cells_;
    late_bytes_ += bytes;
  } else {
    sealed_bytes_ += bytes;
  }
  expired_ |= expired;
  unsealed_ |= key.cell.kind != CellKind::kSealed || cell.late || expired;
}

Result<std::uint64_t> SeriesRewrite::write(ChunkDb& chunks, Files& files) {
  if (cells_.empty()) return 0;
  TRY(const chunk::Points points, merged());  // before anything is written
  TRY_VOID(make_missing(chunks, files.sealed, FileFor::kSealed));
  TRY_VOID(make_missing(chunks, files.summaries, FileFor::kSummaries));
  if (late_cells_ > 0) {
    TRY_VOID(make_missing(chunks, files.late, FileFor::kLate));
    TRY_VOID(remove_late(*files.late));
  }
  std::uint64_t flush_number = 0;
  for (const Cell& cell : cells_) {
    if (cell.cell.generation == generation_) {
      flush_number = std::max(flush_number, cell.cell.flush_number);
    }
  }
  ChunkWriter writer(layout_, CellKind::kSealed, flush_number);
  std::vector<CellEntry> entries;
  writer.add(lap_.shard, tsuid_of(layout_.widths(), series_), points.view(), entries);
  auto put = entries.begin();
  for (const Cell& cell : cells_) {  // both are in the order of their keys
    if (cell.late) continue;
    for (; put != entries.end() && put->key < cell.key; ++put) {
      TRY_VOID(files.sealed->put(put->key, put->value));
    }
    if (put != entries.end() && put->key == cell.key) continue;  // written over
    TRY_VOID(files.sealed->remove(cell.key));
  }
  for (; put != entries.end(); ++put) TRY_VOID(files.sealed->put(put->key, put->value));
  TRY_VOID(write_summary(points.view(), *files.summaries));
  return points.size();
}

Result<void> SeriesRewrite::remove_late(ChunkFile& file) const {
  for (const Cell& cell : cells_) {
    if (cell.late) TRY_VOID(file.remove(cell.key));
  }
  return {};
}

Result<chunk::Points> SeriesRewrite::merged() {
  StoredSeries stored;
  for (const Cell& cell : cells_) {
    if (cell.cell.generation != generation_) continue;
    TRY_VOID(take_cell(cell.cell, cell.value, generation_ * layout_.options().span_ms, kAlways,
                       decoder_, stored));
  }
  return merge_runs(std::move(stored.runs), stored.tombstones, kAlways);
}

Bytes SeriesRewrite::summary_key(std::uint32_t generation) const {
  Bytes key = place_prefix({.shard = lap_.shard, .slot = lap_.slot});
  key.append(series_);
  append_summary_key(key, generation);
  return key;
}

Result<void> SeriesRewrite::write_summary(chunk::PointsView points, ChunkFile& file) const {
  std::set<std::uint32_t> laps = {lap_.generation};
  for (const Cell& cell : cells_) laps.insert(cell.cell.generation);
  for (const std::uint32_t generation : laps) {
    const Bytes key = summary_key(generation);
    if (generation != lap_.generation || points.size() == 0) {
      TRY_VOID(file.remove(key));
      continue;
    }
    Bytes summary;
    // Too many points for one: an empty cell says that they are to be decoded.
    if (points.size() <= chunk::kChunkPointsMax && has_summaries(layout_)) {
      chunk::encode_summaries(points, kSummarySpanMs, summary);
    }
    TRY_VOID(file.put(key, summary));
  }
  return {};
}

}  // namespace halite::storage::engine
