#include "storage/engine/sealing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/log.h"
#include "storage/engine/chunk_writer.h"
#include "storage/engine/slot_reader.h"
#include "storage/engine/span_totals.h"

namespace halite::storage::engine {
namespace {

// A slot that is flushed into so often is sealed although it is not over: a series' chunks stay
// few, and so do the files that a question must look into.
constexpr std::uint32_t kFlushesMax = 24;
constexpr TimeRange kAlways = {.begin = 0, .end = INT64_MAX};

prometheus::Counter& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

// The cells of one series in one slot, as they are, and as they shall be.
class SeriesRewrite {
 public:
  // Cells of other generations of the slot that lie before oldest_alive are removed.
  // everything: also series of which all is sealed.
  SeriesRewrite(const CyclicLayout& layout, SlotLap lap, std::int64_t oldest_alive, bool everything)
      : layout_(layout),
        lap_(lap),
        generation_(lap.generation),
        oldest_alive_(oldest_alive),
        everything_(everything) {}

  void begin(BytesView series) {
    series_ = series;
    cells_.clear();
    worthwhile_ = everything_;
  }
  [[nodiscard]] BytesView series() const { return series_; }

  void add(const ParsedKey& key, BytesView whole_key, BytesView value) {
    const bool expired = key.cell.generation < oldest_alive_;
    if (key.cell.generation != generation_ && !expired) return;
    cells_.push_back({.cell = key.cell, .key = Bytes(whole_key), .value = Bytes(value)});
    if (key.cell.kind != CellKind::kSealed || expired) worthwhile_ = true;
  }

  // Puts what to write and what to remove into a file; nothing where all is sealed already.
  Result<std::uint64_t> write(ChunkFile& file, ChunkFile& summaries) {
    if (!worthwhile_ || cells_.empty()) return 0;
    TRY(const chunk::Points points, merged());
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
      for (; put != entries.end() && put->key < cell.key; ++put) {
        TRY_VOID(file.put(put->key, put->value));
      }
      if (put != entries.end() && put->key == cell.key) continue;  // written over
      TRY_VOID(file.remove(cell.key));
    }
    for (; put != entries.end(); ++put) TRY_VOID(file.put(put->key, put->value));
    TRY_VOID(write_summary(points.view(), summaries));
    return points.size();
  }

 private:
  struct Cell {
    CellKey cell;
    Bytes key;
    Bytes value;
  };

  Result<chunk::Points> merged() {
    StoredSeries stored;
    for (const Cell& cell : cells_) {
      if (cell.cell.generation != generation_) continue;
      TRY_VOID(take_cell(cell.cell, cell.value, generation_ * layout_.options().span_ms, kAlways,
                         decoder_, stored));
    }
    return merge_runs(std::move(stored.runs), stored.tombstones, kAlways);
  }

  [[nodiscard]] Bytes summary_key(std::uint32_t generation) const {
    Bytes key = place_prefix({.shard = lap_.shard, .slot = lap_.slot});
    key.append(series_);
    append_summary_key(key, generation);
    return key;
  }

  Result<void> write_summary(chunk::PointsView points, ChunkFile& file) const {
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

  const CyclicLayout& layout_;
  const SlotLap lap_;
  const std::int64_t generation_;
  const std::int64_t oldest_alive_;
  const bool everything_;
  Bytes series_;
  std::vector<Cell> cells_;
  bool worthwhile_ = false;
  chunk::Decoder decoder_;
};

}  // namespace

Sealing::Sealing(std::shared_ptr<Core> core, prometheus::Registry& registry)
    : core_(std::move(core)),
      sealed_points_(counter(registry, "halite_engine_sealed_points_total",
                             "Points written into their final form.")),
      sealed_bytes_(counter(registry, "halite_engine_sealed_bytes_total",
                            "Bytes of files written by sealing.")) {}

void Sealing::note_flush(const std::set<std::int64_t>& generations) {
  const TimestampMs now = core_->clock.now_ms();
  for (const std::int64_t generation : generations) {
    Dirty& dirty = dirty_[generation];
    dirty.since_ms = now;
    ++dirty.flushes;
  }
}

// Those of before the start, and those in which points were deleted.
void Sealing::find_slots() {
  std::shared_ptr<const UnsealedSlots> unsealed = core_->chunks->unsealed();
  if (unsealed == looked_at_) return;
  const TimestampMs now = core_->clock.now_ms();
  const std::int64_t span = core_->retention->base().options().span_ms;
  for (const auto& [lap, what] : *unsealed) {
    if (lap.shard >= core_->retention->shard_count()) continue;
    const TimeRange alive = core_->retention->layout_of(lap.shard).alive(kAlways, now);
    if ((std::int64_t{lap.generation} + 1) * span <= alive.begin) continue;
    dirty_.try_emplace(lap.generation, Dirty{.since_ms = now, .flushes = 1});
  }
  looked_at_ = std::move(unsealed);
}

Result<void> Sealing::run_due() {
  find_slots();
  const TimestampMs now = core_->clock.now_ms();
  const std::int64_t span = core_->retention->base().options().span_ms;
  const std::int64_t quiet = core_->options.seal_quiet_ms;
  for (const auto& [generation, dirty] : dirty_) {
    const bool over = (generation + 1) * span + quiet <= now && dirty.since_ms + quiet <= now;
    if (!over && dirty.flushes < kFlushesMax) continue;
    return seal(generation);
  }
  return {};
}

Result<void> Sealing::seal_everything() {
  find_slots();
  while (!dirty_.empty()) {
    TRY_VOID(core_->check_open());
    TRY_VOID(seal(dirty_.begin()->first));
  }
  return core_->log->shrink();
}

Result<void> Sealing::seal(std::int64_t generation) {
  for (std::uint32_t shard = 0; shard < core_->retention->shard_count(); ++shard) {
    TRY_VOID(seal_shard(generation, shard));
  }
  dirty_.erase(generation);
  return {};
}

Result<void> Sealing::seal_shard(std::int64_t generation, std::uint32_t shard) {
  const CyclicLayout& layout = core_->retention->layout_of(shard);
  const SlotLap lap = {.shard = shard,
                       .slot = layout.slot_of(generation),
                       .generation = static_cast<std::uint32_t>(generation)};
  const std::shared_ptr<const UnsealedSlots> slots = core_->chunks->unsealed();
  const auto unsealed = slots->find(lap);
  if (unsealed == slots->end()) return {};
  const Bytes begin = place_prefix({.shard = shard, .slot = lap.slot});
  Bytes end = prefix_end(begin);
  if (end.empty()) end = Bytes(64, '\xFF');
  TRY(const ChunkDb::View view, core_->chunks->view(begin, end));
  TRY(std::unique_ptr<ChunkFile> file, core_->chunks->new_file());
  TRY(std::unique_ptr<ChunkFile> summaries, core_->chunks->new_file(FileFor::kSummaries));
  const TimestampMs oldest = layout.alive(kAlways, core_->clock.now_ms()).begin;
  SeriesRewrite rewrite(layout, lap, oldest / layout.options().span_ms,
                        unsealed->second.without_summary);
  std::uint64_t points = 0;
  Cursor& cursor = *view.cursor;
  for (cursor.seek(begin); cursor.valid(); cursor.next()) {
    TRY(const ParsedKey key, parse_key(layout.widths(), cursor.key()));
    if (key.series != rewrite.series()) {
      TRY_VOID(core_->check_open());  // whoever closes does not wait for more than a series
      TRY(const std::uint64_t written, rewrite.write(*file, *summaries));
      points += written;
      rewrite.begin(key.series);
    }
    rewrite.add(key, cursor.key(), cursor.value());
  }
  TRY_VOID(cursor.status());
  TRY(const std::uint64_t written, rewrite.write(*file, *summaries));
  points += written;
  const std::uint64_t bytes = file->bytes() + summaries->bytes();
  const bool changed = file->entries() + summaries->entries() > 0;
  std::vector<std::unique_ptr<ChunkFile>> files;
  files.push_back(std::move(file));
  files.push_back(std::move(summaries));
  ChunkDb::Changes changes;
  for (const auto& [known, what] : *slots) {
    const bool expired = known.generation < oldest / layout.options().span_ms;
    const bool same_place = known.shard == shard && known.slot == lap.slot;
    if (known == lap || (same_place && expired)) changes.sealed.push_back(known);
  }
  TRY_VOID(core_->chunks->ingest(std::move(files), core_->chunks->mark(), changes));
  if (!changed) return {};
  sealed_points_.Increment(static_cast<double>(points));
  sealed_bytes_.Increment(static_cast<double>(bytes));
  return core_->chunks->compact(begin, end);
}

}  // namespace halite::storage::engine
