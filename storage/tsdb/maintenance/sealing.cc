#include "storage/tsdb/maintenance/sealing.h"

#include <utility>
#include <vector>

#include "common/log.h"
#include "common/metrics.h"
#include "storage/tsdb/chunk_db/stored_cells.h"

namespace halite::storage::engine {
namespace {

constexpr TimeRange kAlways = {.begin = 0, .end = INT64_MAX};

// Nothing came since it was sealed, and summaries say all of it.
bool is_sealed(const Unsealed& line) {
  return line.begin_ms >= line.end_ms && !line.without_summary;
}

}  // namespace

Sealing::Sealing(std::shared_ptr<Core> core, prometheus::Registry& registry)
    : core_(std::move(core)),
      late_(core_),
      sealed_points_(
          add_counter(registry, "halite_engine_sealed_points_total", "Points written by sealing.")),
      sealed_bytes_(add_counter(registry, "halite_engine_sealed_bytes_total",
                                "Bytes of files written by sealing.")) {}

void Sealing::note_flush(const std::set<std::int64_t>& generations) {
  const TimestampMs now = core_->clock.now_ms();
  for (const std::int64_t generation : generations) {
    Dirty& dirty = dirty_[generation];
    dirty.since_ms = now;
    ++dirty.flushes;
  }
}

// Those of before the start, and those in which points were deleted. Others have late data only, or
// nothing that is not sealed.
void Sealing::find_slots() {
  std::shared_ptr<const UnsealedSlots> unsealed = core_->chunks->states.unsealed();
  if (unsealed == looked_at_) return;
  const TimestampMs now = core_->clock.now_ms();
  const std::int64_t span = core_->retention->base().options().span_ms;
  std::set<std::int64_t> wanted;
  for (const auto& [lap, line] : *unsealed) {
    if (lap.shard >= core_->retention->shard_count() || line.late) continue;
    const TimeRange alive = core_->retention->layout_of(lap.shard).alive(kAlways, now);
    if ((std::int64_t{lap.generation} + 1) * span <= alive.begin) continue;
    // What was sealed early and is over takes nothing more but late data.
    if (is_sealed(line) && !is_over(lap.generation)) continue;
    wanted.insert(lap.generation);
  }
  for (const std::int64_t generation : wanted) {
    dirty_.try_emplace(generation, Dirty{.since_ms = now, .flushes = 1});
  }
  std::erase_if(dirty_, [&wanted](const auto& slot) {
    return !wanted.contains(slot.first) && slot.second.flushes_max == kFlushes;
  });
  looked_at_ = std::move(unsealed);
}

bool Sealing::is_over(std::int64_t generation) const {
  const std::int64_t span = core_->retention->base().options().span_ms;
  return (generation + 1) * span + core_->options.seal_quiet_ms <= core_->clock.now_ms();
}

Result<void> Sealing::run_due(const Breathe& breathe) {
  find_slots();
  const TimestampMs now = core_->clock.now_ms();
  std::set<std::int64_t> due;
  for (const auto& [generation, dirty] : dirty_) {
    if (now < dirty.not_before_ms) continue;
    const bool quiet = dirty.since_ms + core_->options.seal_quiet_ms <= now;
    if ((is_over(generation) && quiet) || dirty.flushes >= dirty.flushes_max) {
      due.insert(generation);
    }
  }
  Result<void> outcome;
  if (!due.empty()) outcome = seal(due, breathe);
  if (!outcome && !core_->closing) outcome = seal_apart(due, breathe);
  SealBatch batch(*core_);
  TRY(const std::uint64_t points, late_.run_due(batch, breathe));
  note_sealed(points, batch);
  TRY_VOID(outcome);
  return std::exchange(merge_due_, false) ? merge({}, breathe) : Result<void>();
}

Result<void> Sealing::seal_everything(const Breathe& breathe) {
  find_slots();
  std::set<std::int64_t> all;
  for (const auto& [generation, dirty] : dirty_) all.insert(generation);
  Result<void> outcome = seal(all, breathe);
  if (!outcome && !core_->closing) outcome = seal_apart(all, breathe);
  SealBatch batch(*core_);
  TRY(const std::uint64_t points, late_.run_all(batch, breathe));
  note_sealed(points, batch);
  TRY_VOID(core_->check_open());
  TRY_VOID(outcome);
  TRY_VOID(merge({.fresh_percent = 0, .fresh_files = 0}, breathe));
  TRY_VOID(core_->chunks->files.merge_late(breathe));
  return core_->log->shrink();
}

void Sealing::note_sealed(std::uint64_t points, const SealBatch& batch) {
  sealed_points_.Increment(static_cast<double>(points));
  sealed_bytes_.Increment(static_cast<double>(batch.bytes_taken()));
  merge_due_ |= batch.bytes_taken() > 0;
}

Result<void> Sealing::merge(const MergeRule& rule, const Breathe& breathe) {
  std::set<Place> left = core_->chunks->files.places_to_merge(rule);
  while (!left.empty()) {
    const Place place = *left.begin();
    TRY(bool go_on, breathe());
    if (go_on) {
      TRY(go_on, core_->chunks->files.merge_place(place, breathe));
    }
    merge_due_ |= !go_on;
    if (!go_on) return {};
    // It took in what lies across the place's borders, too, often all that others are about.
    const std::set<Place> due = core_->chunks->files.places_to_merge(rule);
    left.erase(place);
    std::erase_if(left, [&due](const Place& other) { return !due.contains(other); });
  }
  return {};
}

Result<void> Sealing::seal_apart(const std::set<std::int64_t>& generations,
                                 const Breathe& breathe) {
  Result<void> outcome;
  for (const std::int64_t generation : generations) {
    TRY_VOID(core_->check_open());
    const Result<void> sealed = seal({generation}, breathe);
    if (sealed) continue;
    dirty_[generation].not_before_ms = core_->clock.now_ms() + core_->options.seal_quiet_ms;
    outcome = sealed;
  }
  return outcome;
}

// All slots of a shard before the next shard: their files are merged at once.
Result<void> Sealing::seal(const std::set<std::int64_t>& generations, const Breathe& breathe) {
  std::map<std::int64_t, std::uint32_t> flushes;
  for (const std::int64_t generation : generations) {
    flushes[generation] = dirty_[generation].flushes;
    dirty_[generation].written = {};
    dirty_[generation].held = false;
  }
  const std::shared_ptr<const UnsealedSlots> lines = core_->chunks->states.unsealed();
  SealBatch batch(*core_);
  bool ended = false;
  for (const auto& [lap, line] : *lines) {
    if (lap.shard >= core_->retention->shard_count()) continue;
    if (line.late || !generations.contains(lap.generation)) continue;
    if (is_sealed(line)) {
      if (is_over(lap.generation)) batch.seals(lap, false);
      continue;
    }
    if (const auto known = damaged_.find(lap);
        known != damaged_.end() && known->second == line.touches) {
      continue;
    }
    TRY(bool complete, seal_lap(lap, batch, breathe));
    if (complete && !is_over(lap.generation) && !damaged_.contains(lap)) {
      TRY(complete, merge_early(lap, batch, breathe));
    }
    ended = !complete;
    if (ended) break;
    if (batch.full()) TRY_VOID(batch.take_in());
  }
  TRY_VOID(batch.take_in());
  merge_due_ |= batch.bytes_taken() > 0;
  sealed_bytes_.Increment(static_cast<double>(batch.bytes_taken()));
  if (ended) return {};
  for (const auto& [generation, before] : flushes) {
    Dirty& dirty = dirty_[generation];
    if (dirty.held) {  // a delete may take long: the slot is not read again each round
      dirty.not_before_ms = core_->clock.now_ms() + core_->options.seal_quiet_ms;
      continue;
    }
    if (is_over(generation)) {
      if (dirty.flushes == before) dirty_.erase(generation);
    } else {
      dirty.flushes -= before;
      if (before >= dirty.flushes_max && waits_longer(dirty)) dirty.flushes_max *= 2;
    }
  }
  return {};
}

bool Sealing::waits_longer(const Dirty& dirty) {
  return dirty.flushes_max == kFlushes || 2 * dirty.written.sealed_before >= dirty.written.points;
}

Result<bool> Sealing::seal_lap(const SlotLap& lap, SealBatch& batch, const Breathe& breathe) {
  const CyclicLayout& layout = core_->retention->layout_of(lap.shard);
  const TimestampMs oldest = layout.alive(kAlways, core_->clock.now_ms()).begin;
  Lap under_way = {.lap = lap,
                   .line = core_->chunks->states.unsealed()->at(lap),
                   .oldest_alive = oldest / layout.options().span_ms};
  TRY(const bool complete, rewrite(under_way, batch, breathe));
  if (!complete) return false;
  const std::shared_ptr<const UnsealedSlots> now = core_->chunks->states.unsealed();
  for (const auto& [known, what] : *now) {
    const bool expired = known.generation < under_way.oldest_alive;
    const bool same_place = known.shard == lap.shard && known.slot == lap.slot;
    if (same_place && expired && known != lap) batch.seals(known, false);
  }
  if (under_way.damaged) {
    damaged_[lap] = under_way.line.touches;
    return true;
  }
  damaged_.erase(lap);
  if (under_way.held) {
    dirty_[lap.generation].held = true;
    return true;
  }
  const auto same = now->find(lap);
  // Else something came meanwhile.
  if (same != now->end() && same->second.touches == under_way.line.touches) {
    batch.seals(lap, !is_over(lap.generation));
  }
  return true;
}

// A slot that still gets points may never be one of the sealed places that are merged, and what was
// made of its chunks leaves none of them of use.
Result<bool> Sealing::merge_early(const SlotLap& lap, SealBatch& batch, const Breathe& breathe) {
  TRY_VOID(batch.take_in());
  Result<bool> merged =
      core_->chunks->files.merge_place({.shard = lap.shard, .slot = lap.slot}, breathe);
  if (merged || core_->closing) return merged;
  // Want of room, say. What comes for the slot next tries again.
  log::error("compacting files of a sealed slot failed: {}", merged.error().message);
  return true;
}

Result<bool> Sealing::rewrite(Lap& lap, SealBatch& batch, const Breathe& breathe) {
  const CyclicLayout& layout = core_->retention->layout_of(lap.lap.shard);
  const Bytes begin = place_prefix({.shard = lap.lap.shard, .slot = lap.lap.slot});
  Bytes end = prefix_end(begin);
  if (end.empty()) end = Bytes(64, '\xFF');
  // As if the rest had not come yet (pending_deletes.h). A delete that begins later is above all of
  // the view.
  const std::uint64_t flushes_end = core_->deletes.lowest();
  TRY(const ChunkViews::View view, core_->chunks->views.view(begin, end));
  TRY(SeriesRewrite::Files* const files, batch.files_for(lap.lap));
  SeriesRewrite series(layout, lap.lap, lap.oldest_alive, core_->options.seal_long_points);
  Cursor& cursor = *view.cursor;
  Bytes from = begin;
  cursor.seek(begin);
  for (;;) {
    if (!cursor.valid()) {
      const Result<void> status = cursor.status();
      if (status) break;
      if (status.error().code != Errc::kCorruption) return std::unexpected(status.error());
      lap.damaged = true;
      series.begin({});  // there may be more of it
      TRY(const bool more, seek_undamaged_series(cursor, layout.widths(), from));
      if (!more) break;
      continue;
    }
    TRY(const ParsedKey key, parse_key(layout.widths(), cursor.key()));
    if (key.series != series.series()) {
      TRY_VOID(write(series, lap, *files));
      TRY(const bool go_on, breathe());
      if (!go_on) return false;
      series.begin(key.series);
    }
    if (key.cell.flush_number < flushes_end) {
      series.add(key, cursor);
    } else {
      lap.held = true;
    }
    from = cursor.key();
    cursor.next();
  }
  TRY_VOID(write(series, lap, *files));
  return true;
}

Result<void> Sealing::write(SeriesRewrite& series, Lap& lap, SeriesRewrite::Files& files) {
  if (series.empty() || (series.is_sealed() && !lap.line.without_summary)) return {};
  const Result<SeriesRewrite::Written> written = series.write(core_->chunks->files, files);
  if (written) {
    sealed_points_.Increment(static_cast<double>(written->points));
    SeriesRewrite::Written& so_far = dirty_[lap.lap.generation].written;
    so_far.points += written->points;
    so_far.sealed_before += written->sealed_before;
    return {};
  }
  if (written.error().code != Errc::kCorruption) return std::unexpected(written.error());
  core_->chunks->tables->damage().note(written.error());
  lap.damaged = true;
  return {};
}

}  // namespace halite::storage::engine
