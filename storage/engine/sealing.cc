#include "storage/engine/sealing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/log.h"
#include "storage/engine/chunk_writer.h"
#include "storage/engine/slot_reader.h"

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
  SeriesRewrite(const CyclicLayout& layout, std::int64_t generation, std::int64_t oldest_alive)
      : layout_(layout), generation_(generation), oldest_alive_(oldest_alive) {}

  void begin(BytesView series) {
    series_ = series;
    cells_.clear();
    worthwhile_ = false;
  }
  [[nodiscard]] BytesView series() const { return series_; }

  void add(const ParsedKey& key, BytesView whole_key, BytesView value) {
    const bool expired = key.cell.generation < oldest_alive_;
    if (key.cell.generation != generation_ && !expired) return;
    cells_.push_back({.cell = key.cell, .key = Bytes(whole_key), .value = Bytes(value)});
    if (key.cell.kind != CellKind::kSealed || expired) worthwhile_ = true;
  }

  // Puts what to write and what to remove into a file; nothing where all is sealed already.
  Result<std::uint64_t> write(std::uint32_t shard, ChunkFile& file) {
    if (!worthwhile_) return 0;
    TRY(const chunk::Points points, merged());
    std::uint64_t flush_number = 0;
    for (const Cell& cell : cells_) {
      if (cell.cell.generation == generation_) {
        flush_number = std::max(flush_number, cell.cell.flush_number);
      }
    }
    ChunkWriter writer(layout_, CellKind::kSealed, flush_number);
    std::vector<CellEntry> entries;
    writer.add(shard, tsuid_of(layout_.widths(), series_), points.view(), entries);
    auto put = entries.begin();
    for (const Cell& cell : cells_) {  // both are in the order of their keys
      for (; put != entries.end() && put->key < cell.key; ++put) {
        TRY_VOID(file.put(put->key, put->value));
      }
      if (put != entries.end() && put->key == cell.key) continue;  // written over
      TRY_VOID(file.remove(cell.key));
    }
    for (; put != entries.end(); ++put) TRY_VOID(file.put(put->key, put->value));
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

  const CyclicLayout& layout_;
  const std::int64_t generation_;
  const std::int64_t oldest_alive_;
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

Result<void> Sealing::find_slots() {
  if (looked_) return {};
  const TimestampMs now = core_->clock.now_ms();
  for (std::uint32_t shard = 0; shard < core_->retention->shard_count(); ++shard) {
    const CyclicLayout& layout = core_->retention->layout_of(shard);
    TRY(const auto reader, SlotReader::open(*core_->chunks, layout, shard));
    TRY(const auto generations, reader->generations(layout.alive(kAlways, now)));
    for (const std::int64_t generation : generations) {
      dirty_.try_emplace(generation, Dirty{.since_ms = now, .flushes = 1});
    }
  }
  looked_ = true;
  return {};
}

Result<void> Sealing::run_due() {
  TRY_VOID(find_slots());
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
  TRY_VOID(find_slots());
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
  const Bytes begin = place_prefix({.shard = shard, .slot = layout.slot_of(generation)});
  const Bytes end = prefix_end(begin);
  TRY(const ChunkDb::View view, core_->chunks->view(begin, end.empty() ? Bytes(64, '\xFF') : end));
  TRY(std::unique_ptr<ChunkFile> file, core_->chunks->new_file());
  const TimestampMs oldest = layout.alive(kAlways, core_->clock.now_ms()).begin;
  SeriesRewrite rewrite(layout, generation, oldest / layout.options().span_ms);
  std::uint64_t points = 0;
  ChunkDb::Cursor& cursor = *view.cursor;
  for (cursor.seek(begin); cursor.valid(); cursor.next()) {
    TRY(const ParsedKey key, parse_key(layout.widths(), cursor.key()));
    if (key.series != rewrite.series()) {
      TRY_VOID(core_->check_open());  // whoever closes does not wait for more than a series
      TRY(const std::uint64_t written, rewrite.write(shard, *file));
      points += written;
      rewrite.begin(key.series);
    }
    rewrite.add(key, cursor.key(), cursor.value());
  }
  TRY_VOID(cursor.status());
  TRY(const std::uint64_t written, rewrite.write(shard, *file));
  points += written;
  if (file->entries() == 0) return {};
  const std::uint64_t bytes = file->bytes();
  std::vector<std::unique_ptr<ChunkFile>> files;
  files.push_back(std::move(file));
  TRY_VOID(core_->chunks->ingest(std::move(files), core_->chunks->mark()));
  sealed_points_.Increment(static_cast<double>(points));
  sealed_bytes_.Increment(static_cast<double>(bytes));
  return core_->chunks->compact(begin, end.empty() ? Bytes(64, '\xFF') : end);
}

}  // namespace halite::storage::engine
