#include "storage/tsdb/maintenance/late_sealing.h"

#include <utility>
#include <vector>

#include "storage/tsdb/chunk_db/stored_cells.h"

namespace halite::storage::engine {
namespace {

constexpr TimeRange kAlways = {.begin = 0, .end = INT64_MAX};

}  // namespace

Result<std::uint64_t> LateSealing::run_due(SealBatch& batch, const Breathe& breathe) {
  const TimestampMs now = core_->clock.now_ms();
  if (last_look_ms_ != INT64_MIN && now >= last_look_ms_ &&
      now - last_look_ms_ < core_->options.seal_late_interval_ms) {
    return 0;
  }
  last_look_ms_ = now;
  return run(batch, breathe, false);
}

Result<std::uint64_t> LateSealing::run_all(SealBatch& batch, const Breathe& breathe) {
  return run(batch, breathe, true);
}

Result<std::uint64_t> LateSealing::run(SealBatch& batch, const Breathe& breathe, bool all) {
  std::uint64_t points = 0;
  std::map<SlotLap, std::uint32_t> looked_at;
  const std::shared_ptr<const UnsealedSlots> lines = core_->chunks->states.unsealed();
  for (const auto& [lap, line] : *lines) {
    if (!line.late || lap.shard >= core_->retention->shard_count()) continue;
    if (is_expired(lap)) continue;  // expiry.h takes it
    const auto before = looked_at_.find(lap);
    if (!all && before != looked_at_.end() && before->second == line.touches) {
      looked_at.insert(*before);
      continue;
    }
    TRY(const Outcome outcome, seal(lap, batch, breathe, all));
    points += outcome.points;
    if (outcome.ended) break;  // what is left is looked at again
    if (!outcome.held) looked_at.emplace(lap, line.touches);
    const std::shared_ptr<const UnsealedSlots> now = core_->chunks->states.unsealed();
    const auto same = now->find(lap);
    if (outcome.complete && !outcome.held && same != now->end() &&
        same->second.touches == line.touches) {
      batch.seals(lap, false);
    }
    if (batch.full()) TRY_VOID(batch.take_in());
  }
  TRY_VOID(batch.take_in());
  looked_at_ = std::move(looked_at);
  return points;
}

bool LateSealing::is_expired(const SlotLap& lap) const {
  const CyclicLayout& layout = core_->retention->layout_of(lap.shard);
  const TimestampMs oldest = layout.alive(kAlways, core_->clock.now_ms()).begin;
  return (std::int64_t{lap.generation} + 1) * layout.options().span_ms <= oldest;
}

bool LateSealing::pays(const SeriesRewrite& rewrite, std::uint32_t percent) const {
  return rewrite.late_cells() > 0 &&
         (rewrite.expired() || rewrite.late_cells() >= core_->options.seal_late_chunks_max ||
          rewrite.late_bytes() * 100 >= rewrite.sealed_bytes() * percent);
}

Result<bool> LateSealing::any_pays(const SlotLap& lap, const Breathe& breathe, Outcome& outcome) {
  outcome.complete = false;
  bool found = false;
  const auto look = [&](SeriesRewrite& rewrite) -> Result<bool> {
    found = pays(rewrite, core_->options.seal_late_percent);
    if (found) return false;
    TRY(const bool go_on, breathe());
    outcome.ended = !go_on;
    return go_on;
  };
  TRY([[maybe_unused]] const bool all, visit(lap, look, outcome.held));
  return found;
}

Result<bool> LateSealing::visit(const SlotLap& lap, const Visit& take, bool& held) {
  bool damaged = false;
  const CyclicLayout& layout = core_->retention->layout_of(lap.shard);
  const std::int64_t oldest = layout.alive(kAlways, core_->clock.now_ms()).begin;
  const Bytes begin = place_prefix({.shard = lap.shard, .slot = lap.slot});
  Bytes end = prefix_end(begin);
  if (end.empty()) end = Bytes(64, '\xFF');
  const std::uint64_t flushes_end = core_->deletes.lowest();
  const std::unique_ptr<Cursor> late = core_->chunks->views.late_cells(begin, end);
  TRY(const ChunkViews::View view, core_->chunks->views.view(begin, end));
  SeriesRewrite rewrite(layout, lap, oldest / layout.options().span_ms,
                        core_->options.seal_long_points);
  Bytes from = begin;
  late->seek(begin);
  for (;;) {
    if (!late->valid()) {
      const Result<void> status = late->status();
      if (status) return !damaged;
      if (status.error().code != Errc::kCorruption) return std::unexpected(status.error());
      damaged = true;
      TRY(const bool more, seek_undamaged_series(*late, layout.widths(), from));
      if (!more) return false;
      continue;
    }
    TRY(const ParsedKey found, parse_key(layout.widths(), late->key()));
    Bytes prefix = begin;
    prefix.append(found.series);
    rewrite.begin(found.series);
    const AddCells add = {.prefix = prefix, .flushes_end = flushes_end, .held = held};
    TRY(const bool whole, add_cells(layout.widths(), *view.cursor, add, rewrite));
    if (whole) {
      Result<bool> go_on = take(rewrite);
      if (go_on && !*go_on) return !damaged;
      if (!go_on && go_on.error().code != Errc::kCorruption) return go_on;
      if (!go_on) core_->chunks->tables->damage().note(go_on.error());
      damaged |= !go_on;
    } else {
      damaged = true;
    }
    from = prefix_end(prefix);  // the next series
    late->seek(from);
  }
}

// All of a series' cells from before the pending deletes. False: some cannot be read.
Result<bool> LateSealing::add_cells(const UidWidths& widths, Cursor& cursor, const AddCells& add,
                                    SeriesRewrite& rewrite) {
  const Bytes& prefix = add.prefix;
  for (cursor.seek(prefix); cursor.valid() && cursor.key().starts_with(prefix); cursor.next()) {
    TRY(const ParsedKey key, parse_key(widths, cursor.key()));
    if (key.cell.flush_number < add.flushes_end) {
      rewrite.add(key, cursor);
    } else {
      add.held = true;
    }
  }
  const Result<void> status = cursor.status();
  if (status) return true;
  if (status.error().code == Errc::kCorruption) return false;
  return std::unexpected(status.error());
}

Result<LateSealing::Outcome> LateSealing::seal(const SlotLap& lap, SealBatch& batch,
                                               const Breathe& breathe, bool all) {
  Outcome outcome;
  if (!all) {
    TRY(const bool worthwhile, any_pays(lap, breathe, outcome));
    if (!worthwhile) return outcome;
    outcome.complete = true;
  }
  // Where one pays, those that soon would come with it: then the slot's files are merged once.
  const std::uint32_t percent = core_->options.seal_late_percent / 2;
  const auto rewrite_one = [&](SeriesRewrite& rewrite) -> Result<bool> {
    if (all || pays(rewrite, percent)) {
      TRY(SeriesRewrite::Files* const files, batch.files_for(lap));
      TRY(const SeriesRewrite::Written written, rewrite.write(core_->chunks->files, *files));
      outcome.points += written.points;
    } else if (rewrite.late_cells() > 0) {
      outcome.complete = false;
    }
    TRY(const bool go_on, breathe());
    outcome.ended = !go_on;
    return go_on;
  };
  TRY(const bool all_read, visit(lap, rewrite_one, outcome.held));
  if (!all_read) outcome.complete = false;
  return outcome;
}

}  // namespace halite::storage::engine
