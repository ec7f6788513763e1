#include "storage/tsdb/maintenance/series_rewrite.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/tsdb/chunk_db/slot_reader.h"
#include "storage/tsdb/core/all_times.h"
#include "storage/tsdb/maintenance/chunk_writer.h"

namespace halite::storage::engine {
namespace {

Result<void> make_missing(ChunkFiles& chunks, std::unique_ptr<ChunkFile>& file,
                          FilePurpose purpose) {
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
  const bool expired = key.cell.period < oldest_alive_;
  if (key.cell.period != period_ && !expired) return;
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

// The least offset at which unsealed data begins.
std::uint32_t SeriesRewrite::changes_begin() const {
  std::uint32_t begin = UINT32_MAX;
  for (const Cell& cell : cells_) {
    if (cell.cell.period != period_ || is_current_sealed(cell)) continue;
    begin = std::min(begin, cell.cell.offset_ms);
  }
  return begin;
}

// The chunks that stay are consecutive from the first one on, and do not overlap.
Result<std::uint64_t> SeriesRewrite::choose_what_stays() {
  const TimestampMs slot_begin = period_ * layout_.options().span_ms;
  const std::uint32_t changes = changes_begin();
  const auto sealed = [this](const Cell& cell) { return is_current_sealed(cell); };
  std::uint64_t points = 0;
  for (auto cell = std::ranges::find_if(cells_, sealed); cell != cells_.end();) {
    TRY(const chunk::Header header, chunk::read_header(cell->value));
    const auto next = std::find_if(cell + 1, cells_.end(), sealed);
    const std::uint32_t end =
        next == cells_.end() ? changes : std::min(changes, next->cell.offset_ms);
    if (header.count < long_points_ || header.last_time >= slot_begin + end) break;
    TRY_VOID(chunk::check_crc(cell->value));  // the others are checked when they are decoded
    cell->stays = true;
    points += header.count;
    cell = next;
  }
  return points;
}

Result<SeriesRewrite::Written> SeriesRewrite::write(ChunkFiles& chunks, Files& files) {
  if (cells_.empty()) return Written{};
  // Everything that damage can fail comes before the first write.
  TRY(const std::uint64_t staying, choose_what_stays());
  TRY(const chunk::Points points, merged(false));
  std::optional<Bytes> summary;
  if (staying + points.size() > 0) {
    TRY(summary, summary_of(staying, points.view()));
  }
  Written written = {.points = points.size()};
  for (const Cell& cell : cells_) {
    if (cell.stays || !is_current_sealed(cell)) continue;
    TRY(const chunk::Header header, chunk::read_header(cell.value));
    written.sealed_before += header.count;
  }
  TRY_VOID(make_missing(chunks, files.sealed, FilePurpose::kSealed));
  TRY_VOID(make_missing(chunks, files.summaries, FilePurpose::kSummaries));
  if (late_cells_ > 0) {
    TRY_VOID(make_missing(chunks, files.late, FilePurpose::kLate));
    TRY_VOID(remove_late(*files.late));
  }
  TRY_VOID(put_chunks(points.view(), *files.sealed));
  TRY_VOID(put_summary(summary, *files.summaries));
  return written;
}

Result<void> SeriesRewrite::put_chunks(chunk::PointsView points, ChunkFile& file) const {
  std::uint64_t flush_number = 0;
  for (const Cell& cell : cells_) {
    if (cell.cell.period == period_ && !cell.stays) {
      flush_number = std::max(flush_number, cell.cell.flush_number);
    }
  }
  ChunkWriter writer(layout_, CellKind::kSealed, flush_number);
  std::vector<CellEntry> entries;
  writer.add(partition_.shard, tsuid_of(layout_.widths(), series_), points, entries);
  auto put = entries.begin();
  for (const Cell& cell : cells_) {  // both are in key order
    if (cell.late || cell.stays) continue;
    for (; put != entries.end() && put->key < cell.key; ++put) {
      TRY_VOID(file.put(put->key, put->value));
    }
    if (put != entries.end() && put->key == cell.key) continue;  // overwritten
    TRY_VOID(file.remove(cell.key));
  }
  for (; put != entries.end(); ++put) TRY_VOID(file.put(put->key, put->value));
  return {};
}

Result<void> SeriesRewrite::remove_late(ChunkFile& file) const {
  for (const Cell& cell : cells_) {
    if (cell.late) TRY_VOID(file.remove(cell.key));
  }
  return {};
}

Result<chunk::Points> SeriesRewrite::merged(bool of_those_that_stay) {
  StoredSeries stored;
  for (const Cell& cell : cells_) {
    if (cell.cell.period != period_ || cell.stays != of_those_that_stay) continue;
    TRY_VOID(take_cell(cell.cell, cell.value, period_ * layout_.options().span_ms, kSince1970,
                       decoder_, stored));
  }
  return merge_runs(std::move(stored.runs), stored.tombstones, kSince1970);
}

Bytes SeriesRewrite::summary_key(std::uint32_t period) const {
  Bytes key = shard_slot_prefix({.shard = partition_.shard, .slot = partition_.slot});
  key.append(series_);
  append_summary_key(key, period);
  return key;
}

// The summary of the points in chunks that stay and of the written ones, which come after them. If
// there are too many points, returns an empty one: the chunks must be decoded.
Result<Bytes> SeriesRewrite::summary_of(std::uint64_t staying, chunk::PointsView written) {
  Bytes summary;
  if (staying + written.size() > chunk::kChunkPointsMax || !has_summaries(layout_)) return summary;
  chunk::Points all;
  if (staying > 0) {
    TRY(all, merged(true));
    all.append(written);
    written = all.view();
  }
  chunk::encode_summaries(written, kSummarySpanMs, summary);
  return summary;
}

// Also removes the summaries of other periods.
Result<void> SeriesRewrite::put_summary(const std::optional<Bytes>& summary,
                                        ChunkFile& file) const {
  std::set<std::uint32_t> periods = {partition_.period};
  for (const Cell& cell : cells_) periods.insert(cell.cell.period);
  for (const std::uint32_t period : periods) {
    const Bytes key = summary_key(period);
    if (period == partition_.period && summary) {
      TRY_VOID(file.put(key, *summary));
    } else {
      TRY_VOID(file.remove(key));
    }
  }
  return {};
}

}  // namespace halite::storage::engine
