#include "storage/tsdb/maintenance/deletes.h"

#include <algorithm>
#include <utility>

#include "storage/tsdb/chunk_db/slot_reader.h"

namespace halite::storage::engine {
namespace {

struct TombstoneEntry {
  Bytes key;
  Bytes end;
  Partition partition;
  UnsealedRange covers;
};

// Whether the delete may continue.
Result<void> check(const EngineContext& context, const RowSelection& selection) {
  TRY_VOID(context.check_open());
  return selection.context().check();
}

// Adds the tombstones of one series: one for each slot in which it has points in the range.
Result<std::uint64_t> delete_series(const EngineContext& context, const RowSelection& selection,
                                    SlotReader& reader, const CyclicLayout& layout,
                                    const std::vector<std::int64_t>& periods, const Series& series,
                                    TimeRange range, std::uint64_t flush_number,
                                    std::vector<TombstoneEntry>& entries) {
  const std::int64_t span = layout.options().span_ms;
  const Bytes key = series_key(layout.widths(), series.tsuid.bytes());
  std::uint64_t points = 0;
  for (const std::int64_t period : periods) {
    TRY_VOID(check(context, selection));
    const TimestampMs slot_begin = period * span;
    const TimeRange part = {.begin = std::max(range.begin, slot_begin),
                            .end = std::min(range.end, slot_begin + span)};
    TRY(StoredSeries stored, reader.read(period, key, part));
    // Flushed after the delete began.
    std::erase_if(stored.runs, [flush_number](const chunk::FlushedRun& run) {
      return run.flush_number > flush_number;
    });
    const chunk::Points hidden = merge_runs(std::move(stored.runs), stored.tombstones, part);
    if (hidden.empty()) continue;
    points += hidden.size();
    TombstoneEntry& entry = entries.emplace_back();
    entry.key = series_prefix({.shard = series.shard, .slot = layout.slot_of(period)},
                              layout.widths(), series.tsuid.bytes());
    append_cell_key(entry.key, {.period = static_cast<std::uint32_t>(period),
                                .kind = CellKind::kTombstone,
                                .offset_ms = static_cast<std::uint32_t>(part.begin - slot_begin),
                                .flush_number = flush_number});
    append_be(entry.end, static_cast<std::uint32_t>(part.end - slot_begin));
    entry.partition = {.shard = series.shard,
                       .slot = layout.slot_of(period),
                       .period = static_cast<std::uint32_t>(period)};
    entry.covers = {.begin_ms = static_cast<std::uint32_t>(part.begin - slot_begin),
                    .end_ms = static_cast<std::uint32_t>(part.end - slot_begin)};
  }
  return points;
}

}  // namespace

// The number is above every flush and below the active head's.
void begin_delete(EngineContext& context, Deletion& deletion) {
  deletion.pending = context.deletes.begin(context.head_list.active_number() - 1);
}

Result<void> prepare_delete(EngineContext& context, const RowSelection& selection, TimeRange range,
                            std::uint32_t shard, Deletion& deletion) {
  const RowSelection::Known known = selection.known();
  const CyclicLayout& layout = context.retention->layout_of(shard);
  const TimeRange alive = layout.alive(range, selection.now());
  if (alive.begin >= alive.end || known->of_shard(shard).empty()) return {};
  TRY(const auto reader, SlotReader::open(context.chunks->views, layout, shard, ReadSource::kDisk));
  TRY(const auto periods, reader->periods(alive));
  std::vector<TombstoneEntry> entries;
  for (const SeriesId id : known->of_shard(shard)) {
    TRY_VOID(check(context, selection));
    TRY(const std::uint64_t points,
        delete_series(context, selection, *reader, layout, periods, context.registry.table().at(id),
                      alive, deletion.pending->number(), entries));
    if (points > 0) deletion.series.push_back(id);
    deletion.points += points;
  }
  if (entries.empty()) return {};
  std::ranges::sort(entries, {}, &TombstoneEntry::key);
  TRY(auto file, context.chunks->files.new_file());
  for (const TombstoneEntry& entry : entries) {
    TRY_VOID(file->put(entry.key, entry.end));
    deletion.changes.touched[entry.partition].add(entry.covers);
  }
  deletion.files.push_back(std::move(file));
  return {};
}

Result<void> finish_delete(EngineContext& context, SeriesGc& series_gc, Deletion& deletion) {
  TRY_VOID(series_gc.note_deleted(deletion.series));
  // Their points may have expired meanwhile, but the tombstones are cells too.
  for (const SeriesId id : deletion.series) context.registry.unmark_candidate(id);
  FlushMark mark = context.chunks->states.mark();
  mark.flush_number = std::max(mark.flush_number, deletion.pending->number());
  Result<void> taken =
      context.chunks->files.ingest(std::move(deletion.files), mark, deletion.changes);
  for (const SeriesId id : deletion.series) {
    context.newest.invalidate(context.registry.table().at(id).shard, {&id, 1});
  }
  deletion.pending.reset();
  return taken;
}

}  // namespace halite::storage::engine
