#include "storage/tsdb/maintenance/late_sealing.h"

#include <utility>

#include "storage/tsdb/chunk_db/stored_cells.h"
#include "storage/tsdb/core/all_times.h"

namespace halite::storage::engine {
Result<std::uint64_t> LateSealing::run_due(SealBatch& batch, const YieldFn& yield) {
  const TimestampMs now = context_->clock.now_ms();
  if (last_look_ms_ != INT64_MIN && now >= last_look_ms_ &&
      now - last_look_ms_ < context_->options.seal_late_interval_ms) {
    return 0;
  }
  last_look_ms_ = now;
  return run(batch, yield, false);
}

Result<std::uint64_t> LateSealing::run_all(SealBatch& batch, const YieldFn& yield) {
  return run(batch, yield, true);
}

Result<std::uint64_t> LateSealing::run(SealBatch& batch, const YieldFn& yield, bool all) {
  std::uint64_t points = 0;
  std::map<Partition, std::uint32_t> looked_at;
  const std::shared_ptr<const UnsealedRanges> lines = context_->chunks->states.unsealed();
  for (const auto& [partition, line] : *lines) {
    if (!line.late || partition.shard >= context_->retention->shard_count()) continue;
    if (is_expired(partition)) continue;  // expiry removes it
    const auto before = looked_at_.find(partition);
    if (!all && before != looked_at_.end() && before->second == line.touches) {
      looked_at.insert(*before);
      continue;
    }
    TRY(const SealOutcome outcome, seal(partition, batch, yield, all));
    points += outcome.points;
    if (outcome.ended) break;  // the rest is examined again
    if (!outcome.blocked) looked_at.emplace(partition, line.touches);
    const std::shared_ptr<const UnsealedRanges> now = context_->chunks->states.unsealed();
    const auto same = now->find(partition);
    if (outcome.complete && !outcome.blocked && same != now->end() &&
        same->second.touches == line.touches) {
      batch.seals(partition, line, false);
    }
    if (batch.full()) TRY_VOID(batch.commit());
  }
  TRY_VOID(batch.commit());
  looked_at_ = std::move(looked_at);
  return points;
}

bool LateSealing::is_expired(const Partition& partition) const {
  const CyclicLayout& layout = context_->retention->layout_of(partition.shard);
  const TimestampMs oldest = layout.alive(kSince1970, context_->clock.now_ms()).begin;
  return (std::int64_t{partition.period} + 1) * layout.options().span_ms <= oldest;
}

bool LateSealing::pays(const SeriesRewrite& rewrite, std::uint32_t percent) const {
  return rewrite.late_cells() > 0 &&
         (rewrite.expired() || rewrite.late_cells() >= context_->options.seal_late_chunks_max ||
          rewrite.late_bytes() * 100 >= rewrite.sealed_bytes() * percent);
}

Result<bool> LateSealing::any_pays(const Partition& partition, const YieldFn& yield,
                                   SealOutcome& outcome) {
  outcome.complete = false;
  bool found = false;
  const auto look = [&](SeriesRewrite& rewrite) -> Result<bool> {
    found = pays(rewrite, context_->options.seal_late_percent);
    if (found) return false;
    TRY(const bool keep_going, yield());
    outcome.ended = !keep_going;
    return keep_going;
  };
  TRY([[maybe_unused]] const bool all, visit(partition, look, outcome.blocked));
  return found;
}

Result<bool> LateSealing::visit(const Partition& partition, const Visit& take, bool& blocked) {
  bool damaged = false;
  const CyclicLayout& layout = context_->retention->layout_of(partition.shard);
  const std::int64_t oldest = layout.alive(kSince1970, context_->clock.now_ms()).begin;
  const Bytes begin = shard_slot_prefix({.shard = partition.shard, .slot = partition.slot});
  Bytes end = prefix_end(begin);
  if (end.empty()) end = Bytes(64, '\xFF');
  const std::uint64_t flushes_end = context_->deletes.lowest();
  const std::unique_ptr<Cursor> late = context_->chunks->views.late_cells(begin, end);
  TRY(const ChunkViews::View view, context_->chunks->views.view(begin, end));
  SeriesRewrite rewrite(layout, partition, oldest / layout.options().span_ms,
                        context_->options.seal_long_points);
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
    const AddCells add = {.prefix = prefix, .flushes_end = flushes_end, .blocked = blocked};
    TRY(const bool whole, add_cells(layout.widths(), *view.cursor, add, rewrite));
    if (whole) {
      Result<bool> keep_going = take(rewrite);
      if (keep_going && !*keep_going) return !damaged;
      if (!keep_going && keep_going.error().code != Errc::kCorruption) return keep_going;
      if (!keep_going) context_->chunks->tables->damage().note(keep_going.error());
      damaged |= !keep_going;
    } else {
      damaged = true;
    }
    from = prefix_end(prefix);  // the next series
    late->seek(from);
  }
}

// Adds all cells of a series that are older than the pending deletes. False: some cannot be read.
Result<bool> LateSealing::add_cells(const UidWidths& widths, Cursor& cursor, const AddCells& add,
                                    SeriesRewrite& rewrite) {
  const Bytes& prefix = add.prefix;
  for (cursor.seek(prefix); cursor.valid() && cursor.key().starts_with(prefix); cursor.next()) {
    TRY(const ParsedKey key, parse_key(widths, cursor.key()));
    if (key.cell.flush_number < add.flushes_end) {
      rewrite.add(key, cursor);
    } else {
      add.blocked = true;
    }
  }
  const Result<void> status = cursor.status();
  if (status) return true;
  if (status.error().code == Errc::kCorruption) return false;
  return std::unexpected(status.error());
}

Result<LateSealing::SealOutcome> LateSealing::seal(const Partition& partition, SealBatch& batch,
                                                   const YieldFn& yield, bool all) {
  SealOutcome outcome;
  if (!all) {
    TRY(const bool worthwhile, any_pays(partition, yield, outcome));
    if (!worthwhile) return outcome;
    outcome.complete = true;
  }
  // If one series is worth rewriting, includes those that soon will be, so that the files of the
  // slot are compacted once.
  const std::uint32_t percent = context_->options.seal_late_percent / 2;
  const auto rewrite_one = [&](SeriesRewrite& rewrite) -> Result<bool> {
    if (all || pays(rewrite, percent)) {
      TRY(SeriesRewrite::Files* const files, batch.files_for(partition));
      TRY(const SeriesRewrite::Written written, rewrite.write(context_->chunks->files, *files));
      outcome.points += written.points;
    } else if (rewrite.late_cells() > 0) {
      outcome.complete = false;
    }
    TRY(const bool keep_going, yield());
    outcome.ended = !keep_going;
    return keep_going;
  };
  TRY(const bool all_read, visit(partition, rewrite_one, outcome.blocked));
  if (!all_read) outcome.complete = false;
  return outcome;
}

}  // namespace halite::storage::engine
