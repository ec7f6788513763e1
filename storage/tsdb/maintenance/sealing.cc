#include "storage/tsdb/maintenance/sealing.h"

#include <utility>
#include <vector>

#include "common/log.h"
#include "common/metrics.h"
#include "storage/tsdb/chunk_db/stored_cells.h"
#include "storage/tsdb/core/all_times.h"

namespace halite::storage::engine {
namespace {

// No data arrived since it was sealed, and all of it has summaries.
bool is_sealed(const UnsealedRange& line) {
  return line.begin_ms >= line.end_ms && !line.without_summary;
}

}  // namespace

Sealing::Sealing(std::shared_ptr<EngineContext> context, prometheus::Registry& registry)
    : context_(std::move(context)),
      late_(context_),
      sealed_points_(
          add_counter(registry, "halite_engine_sealed_points_total", "Points written by sealing.")),
      sealed_bytes_(add_counter(registry, "halite_engine_sealed_bytes_total",
                                "Bytes of files written by sealing.")) {}

void Sealing::on_flush(const std::set<std::int64_t>& periods, bool sealed_directly) {
  compaction_due_ |= sealed_directly;
  const TimestampMs now = context_->clock.now_ms();
  for (const std::int64_t period : periods) {
    Dirty& dirty = dirty_[period];
    dirty.since_ms = now;
    ++dirty.flushes;
  }
}

// Adds slots from before the start and slots with deletes. Others have only late data, or nothing
// unsealed.
void Sealing::find_slots() {
  std::shared_ptr<const UnsealedRanges> unsealed = context_->chunks->states.unsealed();
  if (unsealed == looked_at_) return;
  const TimestampMs now = context_->clock.now_ms();
  const std::int64_t span = context_->retention->base().options().span_ms;
  std::set<std::int64_t> wanted;
  for (const auto& [partition, line] : *unsealed) {
    if (partition.shard >= context_->retention->shard_count() || line.late) continue;
    const TimeRange alive = context_->retention->layout_of(partition.shard).alive(kSince1970, now);
    if ((std::int64_t{partition.period} + 1) * span <= alive.begin) continue;
    // It was sealed early and has ended: only late data can arrive.
    if (is_sealed(line) && !is_over(partition.period)) continue;
    wanted.insert(partition.period);
  }
  for (const std::int64_t period : wanted) {
    dirty_.try_emplace(period, Dirty{.since_ms = now, .flushes = 1});
  }
  std::erase_if(dirty_, [&wanted](const auto& slot) {
    return !wanted.contains(slot.first) && slot.second.flushes_max == kFlushes;
  });
  looked_at_ = std::move(unsealed);
}

std::int64_t Sealing::over_before() const {
  const std::int64_t span = context_->retention->base().options().span_ms;
  return (context_->clock.now_ms() - context_->options.seal_quiet_ms) / span;
}

bool Sealing::is_over(std::int64_t period) const { return period < over_before(); }

Result<void> Sealing::run_due(const YieldFn& yield) {
  find_slots();
  const TimestampMs now = context_->clock.now_ms();
  std::set<std::int64_t> due;
  for (const auto& [period, dirty] : dirty_) {
    if (now < dirty.not_before_ms) continue;
    const bool quiet = dirty.since_ms + context_->options.seal_quiet_ms <= now;
    if ((is_over(period) && quiet) || dirty.flushes >= dirty.flushes_max) {
      due.insert(period);
    }
  }
  Result<void> outcome;
  if (!due.empty()) outcome = seal(due, yield);
  if (!outcome && !context_->closing) outcome = seal_separately(due, yield);
  SealBatch batch(*context_);
  TRY(const std::uint64_t points, late_.run_due(batch, yield));
  note_sealed(points, batch);
  TRY_VOID(outcome);
  return std::exchange(compaction_due_, false) ? merge({}, yield) : Result<void>();
}

Result<void> Sealing::seal_everything(const YieldFn& yield) {
  find_slots();
  std::set<std::int64_t> all;
  for (const auto& [period, dirty] : dirty_) all.insert(period);
  Result<void> outcome = seal(all, yield);
  if (!outcome && !context_->closing) outcome = seal_separately(all, yield);
  SealBatch batch(*context_);
  TRY(const std::uint64_t points, late_.run_all(batch, yield));
  note_sealed(points, batch);
  TRY_VOID(context_->check_open());
  TRY_VOID(outcome);
  TRY_VOID(merge({.fresh_percent = 0, .fresh_files = 0}, yield));
  TRY_VOID(context_->chunks->files.compact_late(yield));
  return context_->log->shrink();
}

void Sealing::note_sealed(std::uint64_t points, const SealBatch& batch) {
  sealed_points_.Increment(static_cast<double>(points));
  sealed_bytes_.Increment(static_cast<double>(batch.bytes_taken()));
  compaction_due_ |= batch.bytes_taken() > 0;
}

Result<void> Sealing::merge(const CompactionRule& rule, const YieldFn& yield) {
  std::map<ShardSlot, bool> left = context_->chunks->files.slots_to_compact(rule);
  while (!left.empty()) {
    const auto [shard_slot, shares_files] = *left.begin();
    TRY(bool keep_going, yield());
    if (keep_going) {
      TRY(keep_going, context_->chunks->files.compact_slot(shard_slot, yield));
    }
    compaction_due_ |= !keep_going;
    if (!keep_going) return {};
    left.erase(left.begin());
    if (!shares_files) continue;
    // The compaction included files of other slots. Often they were the reason why these were due.
    const std::map<ShardSlot, bool> due = context_->chunks->files.slots_to_compact(rule);
    std::erase_if(left, [&due](const auto& other) { return !due.contains(other.first); });
  }
  return {};
}

Result<void> Sealing::seal_separately(const std::set<std::int64_t>& periods, const YieldFn& yield) {
  Result<void> outcome;
  for (const std::int64_t period : periods) {
    TRY_VOID(context_->check_open());
    const Result<void> sealed = seal({period}, yield);
    if (sealed) continue;
    dirty_[period].not_before_ms = context_->clock.now_ms() + context_->options.seal_quiet_ms;
    outcome = sealed;
  }
  return outcome;
}

// Seals all slots of a shard before the next shard, so that their files are compacted together.
Result<void> Sealing::seal(const std::set<std::int64_t>& periods, const YieldFn& yield) {
  std::map<std::int64_t, std::uint32_t> flushes;
  for (const std::int64_t period : periods) {
    flushes[period] = dirty_[period].flushes;
    dirty_[period].written = {};
    dirty_[period].blocked = false;
  }
  const std::shared_ptr<const UnsealedRanges> lines = context_->chunks->states.unsealed();
  SealBatch batch(*context_);
  bool ended = false;
  for (const auto& [partition, line] : *lines) {
    if (partition.shard >= context_->retention->shard_count()) continue;
    if (line.late || !periods.contains(partition.period)) continue;
    if (is_sealed(line)) {
      if (is_over(partition.period)) batch.seals(partition, line, false);
      continue;
    }
    if (const auto known = damaged_.find(partition);
        known != damaged_.end() && known->second == line.touches) {
      continue;
    }
    TRY(bool complete, seal_partition(partition, batch, yield));
    if (complete && !is_over(partition.period) && !damaged_.contains(partition)) {
      TRY(complete, merge_early(partition, batch, yield));
    }
    ended = !complete;
    if (ended) break;
    if (batch.full()) TRY_VOID(batch.commit());
  }
  TRY_VOID(batch.commit());
  compaction_due_ |= batch.bytes_taken() > 0;
  sealed_bytes_.Increment(static_cast<double>(batch.bytes_taken()));
  if (ended) return {};
  for (const auto& [period, before] : flushes) {
    Dirty& dirty = dirty_[period];
    if (dirty.blocked) {  // a delete may take long: do not read the slot again in each cycle
      dirty.not_before_ms = context_->clock.now_ms() + context_->options.seal_quiet_ms;
      continue;
    }
    if (is_over(period)) {
      if (dirty.flushes == before) dirty_.erase(period);
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

Result<bool> Sealing::seal_partition(const Partition& partition, SealBatch& batch,
                                     const YieldFn& yield) {
  const CyclicLayout& layout = context_->retention->layout_of(partition.shard);
  const TimestampMs oldest = layout.alive(kSince1970, context_->clock.now_ms()).begin;
  PartitionSeal under_way = {.partition = partition,
                             .line = context_->chunks->states.unsealed()->at(partition),
                             .oldest_alive = oldest / layout.options().span_ms};
  TRY(const bool complete, rewrite(under_way, batch, yield));
  if (!complete) return false;
  const std::shared_ptr<const UnsealedRanges> now = context_->chunks->states.unsealed();
  for (const auto& [known, what] : *now) {
    const bool expired = known.period < under_way.oldest_alive;
    const bool same_slot = known.shard == partition.shard && known.slot == partition.slot;
    if (same_slot && expired && known != partition) batch.seals(known, what, false);
  }
  if (under_way.damaged) {
    damaged_[partition] = under_way.line.touches;
    return true;
  }
  damaged_.erase(partition);
  if (under_way.blocked) {
    dirty_[partition.period].blocked = true;
    return true;
  }
  const auto same = now->find(partition);
  // Otherwise data arrived meanwhile.
  if (same != now->end() && same->second.touches == under_way.line.touches) {
    batch.seals(partition, under_way.line, !is_over(partition.period));
  }
  return true;
}

// Compacts a slot that still receives points. The regular compaction may never choose it, and after
// sealing its old files are useless.
Result<bool> Sealing::merge_early(const Partition& partition, SealBatch& batch,
                                  const YieldFn& yield) {
  TRY_VOID(batch.commit());
  Result<bool> merged = context_->chunks->files.compact_slot(
      {.shard = partition.shard, .slot = partition.slot}, yield);
  if (merged || context_->closing) return merged;
  // The disk may be full. The next sealing of the slot retries.
  log::error("compacting files of a sealed slot failed: {}", merged.error().message);
  return true;
}

Result<bool> Sealing::rewrite(PartitionSeal& partition, SealBatch& batch, const YieldFn& yield) {
  const CyclicLayout& layout = context_->retention->layout_of(partition.partition.shard);
  const Bytes begin =
      shard_slot_prefix({.shard = partition.partition.shard, .slot = partition.partition.slot});
  Bytes end = prefix_end(begin);
  if (end.empty()) end = Bytes(64, '\xFF');
  // Ignore later cells for now (pending_deletes.h). A delete that begins later has a number above
  // everything in the view.
  const std::uint64_t flushes_end = context_->deletes.lowest();
  TRY(const ChunkViews::View view, context_->chunks->views.view(begin, end));
  TRY(SeriesRewrite::Files* const files, batch.files_for(partition.partition));
  SeriesRewrite series(layout, partition.partition, partition.oldest_alive,
                       context_->options.seal_long_points);
  Cursor& cursor = *view.cursor;
  Bytes from = begin;
  cursor.seek(begin);
  for (;;) {
    if (!cursor.valid()) {
      const Result<void> status = cursor.status();
      if (status) break;
      if (status.error().code != Errc::kCorruption) return std::unexpected(status.error());
      partition.damaged = true;
      series.begin({});  // more of it may follow
      TRY(const bool more, seek_undamaged_series(cursor, layout.widths(), from));
      if (!more) break;
      continue;
    }
    TRY(const ParsedKey key, parse_key(layout.widths(), cursor.key()));
    if (key.series != series.series()) {
      TRY_VOID(write(series, partition, *files));
      TRY(const bool keep_going, yield());
      if (!keep_going) return false;
      series.begin(key.series);
    }
    if (key.cell.flush_number < flushes_end) {
      series.add(key, cursor);
    } else {
      partition.blocked = true;
    }
    from = cursor.key();
    cursor.next();
  }
  TRY_VOID(write(series, partition, *files));
  return true;
}

Result<void> Sealing::write(SeriesRewrite& series, PartitionSeal& partition,
                            SeriesRewrite::Files& files) {
  if (series.empty() || (series.is_sealed() && !partition.line.without_summary)) return {};
  const Result<SeriesRewrite::Written> written = series.write(context_->chunks->files, files);
  if (written) {
    sealed_points_.Increment(static_cast<double>(written->points));
    SeriesRewrite::Written& so_far = dirty_[partition.partition.period].written;
    so_far.points += written->points;
    so_far.sealed_before += written->sealed_before;
    return {};
  }
  if (written.error().code != Errc::kCorruption) return std::unexpected(written.error());
  context_->chunks->tables->damage().note(written.error());
  partition.damaged = true;
  return {};
}

}  // namespace halite::storage::engine
