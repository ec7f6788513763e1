#include "storage/tsdb/maintenance/series_unloader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <span>
#include <utility>

#include "common/metrics.h"
#include "common/threads/run_here.h"
#include "storage/catalog/names/name_kind.h"
#include "storage/tsdb/chunk_db/slot_reader.h"
#include "storage/tsdb/core/all_times.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kLeastShare = 8;             // unloads at least an eighth of all
constexpr std::int64_t kLooksPerIdle = 2;          // in the time after which a series is idle
constexpr std::size_t kFlushedSets = 8;            // in that time, at most one more
constexpr std::int64_t kAheadMs = 600'000;         // how far ahead of the clock times are expected
constexpr std::size_t kRemovedAtOnce = 16 * 1024;  // series; new series wait meanwhile
constexpr std::uint32_t kPositionsPerLock = 4096;

// A time after every point in chunks.
Result<TimestampMs> end_of_stored(const EngineContext& context) {
  TimestampMs end = 0;
  for (std::uint32_t shard = 0; shard < context.retention->shard_count(); ++shard) {
    const CyclicLayout& layout = context.retention->layout_of(shard);
    TRY(const auto reader,
        SlotReader::open(context.chunks->views, layout, shard, ReadSource::kDisk));
    TRY(const std::vector<std::int64_t> periods,
        reader->periods(layout.alive(kAllTimes, context.clock.now_ms())));
    if (!periods.empty()) end = std::max(end, (periods.back() + 1) * layout.options().span_ms);
  }
  return end;
}

}  // namespace

SeriesUnloader::SeriesUnloader(std::shared_ptr<EngineContext> context,
                               prometheus::Registry& registry)
    : context_(std::move(context)),
      names_(*context_->registry.uids().name_remover()),
      looked_ms_(context_->clock.now_ms()),
      unloaded_(add_counter(registry, "halite_engine_unloaded_series_total",
                            "Idle series removed from memory. Their points stay stored.")) {}

void SeriesUnloader::flushed(const std::vector<std::vector<LastPoint>>& newest) {
  const std::int64_t idle_ms = context_->options.series_idle_ms;
  if (idle_ms == 0) return;
  const TimestampMs now = context_->clock.now_ms();
  std::erase_if(flushed_, [&](const Flushed& one) { return one.time <= now - idle_ms; });
  if (flushed_.empty() ||
      now - flushed_.back().time >= idle_ms / static_cast<std::int64_t>(kFlushedSets)) {
    flushed_.emplace_back();
  }
  flushed_.back().time = now;
  TimestampMs latest = 0;
  std::vector<SeriesId> series;
  for (const std::vector<LastPoint>& of_shard : newest) {
    series.clear();
    for (const LastPoint& point : of_shard) {
      series.push_back(point.series);
      latest = std::max(latest, point.time);
    }
    flushed_.back().series.addMany(series.size(), series.data());
  }
  if (latest > now + kAheadMs && stored_before_) {
    stored_before_ = std::max(*stored_before_, latest + 1);
  }
}

Result<bool> SeriesUnloader::step(const YieldFn& yield) {
  if (context_->options.series_idle_ms == 0) return false;
  Epochs& epochs = context_->registry.epochs();
  if (busy() && !epochs.released_before(epoch_)) return false;
  switch (phase_) {
    case Phase::kIdle:
      if (!look()) return false;
      phase_ = Phase::kCandidates;
      epoch_ = epochs.advance();
      return true;
    case Phase::kCandidates: {
      const Result<void> removed = remove(yield);
      context_->registry.unmark_candidates(context_->registry.table().candidates());
      phase_ = Phase::kRemoved;
      epoch_ = epochs.advance();
      TRY_VOID(removed);
      return true;
    }
    case Phase::kRemoved:
      reclaim();
      mark_names();
      phase_ = Phase::kNameCandidates;
      epoch_ = epochs.advance(false);
      return true;
    case Phase::kNameCandidates: {
      // The rows of all candidates are written: then their names can be read again.
      const Result<void> written = run_here(context_->registry.flush_rows());
      if (written) remove_names();
      names_.unmark_all();
      phase_ = Phase::kNamesRemoved;
      epoch_ = epochs.advance(false);
      TRY_VOID(written);
      return true;
    }
    case Phase::kNamesRemoved:
      names_.reclaim(removed_names_);
      removed_names_ = {};
      phase_ = Phase::kIdle;
      return false;
  }
  std::unreachable();
}

IdSet SeriesUnloader::series_in_heads() const {
  IdSet all;
  std::vector<SeriesId> series;
  for (const std::shared_ptr<Head>& head : context_->head_list.view()) {
    for (std::uint32_t index = 0; index < head->shard_count(); ++index) {
      HeadShard& shard = head->shard(index);
      for (std::uint32_t position = 0;;) {
        series.clear();
        const std::lock_guard lock(shard.mutex());
        if (position == shard.series_count()) break;
        const std::uint32_t end = std::min(shard.series_count(), position + kPositionsPerLock);
        for (; position < end; ++position) series.push_back(shard.at(position).id);
        all.addMany(series.size(), series.data());
      }
    }
  }
  return all;
}

// Marks the idle series as removal candidates. False: too few, or it is too early.
bool SeriesUnloader::look() {
  const std::int64_t idle_ms = context_->options.series_idle_ms;
  const TimestampMs now = context_->clock.now_ms();
  if (now >= looked_ms_ && now - looked_ms_ < idle_ms / kLooksPerIdle) return false;
  looked_ms_ = now;
  if (!stored_before_) {
    // If it cannot be read, queries load all series.
    stored_before_ = end_of_stored(*context_).value_or(std::numeric_limits<TimestampMs>::max());
    context_->registry.loader().unloaded_before(*stored_before_);
  }
  IdSet idle = context_->registry.table().ids() - series_in_heads();
  for (const Flushed& one : flushed_) {
    if (one.time > now - idle_ms) idle -= one.series;
  }
  const IdSet candidates = idle & idle_;
  idle_ = std::move(idle);
  if (candidates.isEmpty() ||
      candidates.cardinality() * kLeastShare < context_->registry.table().size()) {
    return false;
  }
  context_->registry.mark_candidates(std::vector<SeriesId>(candidates.begin(), candidates.end()));
  // A point that was on its way to a head ends the candidacy, or is in the head now.
  const IdSet used = candidates & series_in_heads();
  context_->registry.unmark_candidates(std::vector<SeriesId>(used.begin(), used.end()));
  return true;
}

Result<void> SeriesUnloader::remove(const YieldFn& yield) {
  TRY_VOID(run_here(context_->registry.flush_rows()));
  const std::vector<SeriesId> series = context_->registry.table().candidates();
  for (std::size_t begin = 0; begin < series.size(); begin += kRemovedAtOnce) {
    const TimestampMs lately = context_->clock.now_ms() - context_->options.series_idle_ms;
    context_->registry.loader().unload(
        std::span(series).subspan(begin, std::min(kRemovedAtOnce, series.size() - begin)),
        std::max(*stored_before_, lately + kAheadMs), removed_);
    TRY_VOID(yield_or_stop(yield));
  }
  return {};
}

void SeriesUnloader::reclaim() {
  unloaded_.Increment(static_cast<double>(removed_.series.size()));
  reclaim_series(*context_, removed_);
  removed_ = {};
}

void SeriesUnloader::mark_names() {
  SeriesTable::NameUids used;
  context_->registry.table().add_uids(used);
  std::array<std::vector<std::uint64_t>, 3> unused;
  std::size_t count = 0;
  for (const NameKind kind : kNameKinds) {
    const auto index = static_cast<std::size_t>(kind);
    unused[index] = names_.cached_except(kind, used[index]);
    count += unused[index].size();
  }
  if (count * kLeastShare < names_.known()) return;
  for (const NameKind kind : kNameKinds) {
    names_.mark_candidates(kind, unused[static_cast<std::size_t>(kind)]);
  }
}

void SeriesUnloader::remove_names() {
  SeriesTable::NameUids used;
  context_->registry.table().add_uids(used);
  for (const NameKind kind : kNameKinds) {
    names_.unload(kind, used[static_cast<std::size_t>(kind)], removed_names_);
  }
}

}  // namespace halite::storage::engine
