#include "storage/tsdb/maintenance/deletes.h"

#include <algorithm>
#include <utility>

#include "storage/tsdb/chunk_db/slot_reader.h"

namespace halite::storage::engine {
namespace {

struct TombstoneEntry {
  Bytes key;
  Bytes end;
  SlotLap lap;
  Unsealed covers;
};

// May it go on?
Result<void> check(const Core& core, const RowSelection& selection) {
  TRY_VOID(core.check_open());
  return selection.context().check();
}

// Tombstones of one series, one a slot in which it has points in the range.
Result<std::uint64_t> delete_series(const Core& core, const RowSelection& selection,
                                    SlotReader& reader, const CyclicLayout& layout,
                                    const std::vector<std::int64_t>& generations,
                                    const Series& series, TimeRange range,
                                    std::uint64_t flush_number,
                                    std::vector<TombstoneEntry>& entries) {
  const std::int64_t span = layout.options().span_ms;
  const Bytes key = series_key(layout.widths(), series.tsuid.bytes());
  std::uint64_t points = 0;
  for (const std::int64_t generation : generations) {
    TRY_VOID(check(core, selection));
    const TimestampMs slot_begin = generation * span;
    const TimeRange part = {.begin = std::max(range.begin, slot_begin),
                            .end = std::min(range.end, slot_begin + span)};
    TRY(StoredSeries stored, reader.read(generation, key, part));
    // Flushed since the delete began.
    std::erase_if(stored.runs, [flush_number](const chunk::FlushedRun& run) {
      return run.flush_number > flush_number;
    });
    const chunk::Points hidden = merge_runs(std::move(stored.runs), stored.tombstones, part);
    if (hidden.empty()) continue;
    points += hidden.size();
    TombstoneEntry& entry = entries.emplace_back();
    entry.key = series_prefix({.shard = series.shard, .slot = layout.slot_of(generation)},
                              layout.widths(), series.tsuid.bytes());
    append_cell_key(entry.key, {.generation = static_cast<std::uint32_t>(generation),
                                .kind = CellKind::kTombstone,
                                .offset_ms = static_cast<std::uint32_t>(part.begin - slot_begin),
                                .flush_number = flush_number});
    append_be(entry.end, static_cast<std::uint32_t>(part.end - slot_begin));
    entry.lap = {.shard = series.shard,
                 .slot = layout.slot_of(generation),
                 .generation = static_cast<std::uint32_t>(generation)};
    entry.covers = {.begin_ms = static_cast<std::uint32_t>(part.begin - slot_begin),
                    .end_ms = static_cast<std::uint32_t>(part.end - slot_begin)};
  }
  return points;
}

}  // namespace

// Above every flush, below the generation that takes points now.
void begin_delete(Core& core, Deletion& deletion) {
  deletion.pending = core.deletes.begin(core.generations.active_number() - 1);
}

Result<void> prepare_delete(Core& core, const RowSelection& selection, TimeRange range,
                            std::uint32_t shard, Deletion& deletion) {
  const RowSelection::Known known = selection.known();
  const CyclicLayout& layout = core.retention->layout_of(shard);
  const TimeRange alive = layout.alive(range, selection.now());
  if (alive.begin >= alive.end || known->of_shard(shard).empty()) return {};
  TRY(const auto reader, SlotReader::open(core.chunks->views, layout, shard, ReadSource::kDisk));
  TRY(const auto generations, reader->generations(alive));
  std::vector<TombstoneEntry> entries;
  for (const SeriesId id : known->of_shard(shard)) {
    TRY_VOID(check(core, selection));
    TRY(const std::uint64_t points,
        delete_series(core, selection, *reader, layout, generations, core.registry.table().at(id),
                      alive, deletion.pending->number(), entries));
    if (points > 0) deletion.series.push_back(id);
    deletion.points += points;
  }
  if (entries.empty()) return {};
  std::ranges::sort(entries, {}, &TombstoneEntry::key);
  TRY(auto file, core.chunks->files.new_file());
  for (const TombstoneEntry& entry : entries) {
    TRY_VOID(file->put(entry.key, entry.end));
    deletion.changes.touched[entry.lap].add(entry.covers);
  }
  deletion.files.push_back(std::move(file));
  return {};
}

Result<void> finish_delete(Core& core, Forgetting& forgetting, Deletion& deletion) {
  TRY_VOID(forgetting.note_deleted(deletion.series));
  // Their points may have expired meanwhile; the tombstones are cells of theirs all the same.
  for (const SeriesId id : deletion.series) core.registry.spare(id);
  FlushMark mark = core.chunks->states.mark();
  mark.flush_number = std::max(mark.flush_number, deletion.pending->number());
  Result<void> taken = core.chunks->files.ingest(std::move(deletion.files), mark, deletion.changes);
  for (const SeriesId id : deletion.series) {
    core.newest.forget(core.registry.table().at(id).shard, {&id, 1});
  }
  deletion.pending.reset();
  return taken;
}

}  // namespace halite::storage::engine
