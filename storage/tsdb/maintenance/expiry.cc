#include "storage/tsdb/maintenance/expiry.h"

#include <algorithm>

#include "common/log.h"
#include "common/metrics.h"
#include "storage/tsdb/chunk_db/tables/chunk_state.h"
#include "storage/tsdb/core/all_times.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kStopped = "expiry stopped";  // when the jump was noticed; 0 once it is over

}  // namespace

Expiry::Expiry(std::shared_ptr<EngineContext> context, SeriesGc& series_gc,
               prometheus::Registry& registry)
    : context_(std::move(context)),
      series_gc_(series_gc),
      slots_(add_counter(registry, "halite_engine_expired_slots_total",
                         "Slots of a shard removed because they exceeded their TTL.")),
      stopped_(add_gauge(registry, "halite_engine_expiry_stopped",
                         "1 while expiry is paused because the clock jumped ahead, otherwise 0.")) {
}

Result<void> Expiry::run_due(const YieldFn& yield) {
  const Retention& retention = *context_->retention;
  bool anything_expires = false;
  for (std::uint32_t shard = 0; shard < retention.shard_count(); ++shard) {
    if (retention.layout_of(shard).options().ttl_ms != 0) anything_expires = true;
  }
  if (!anything_expires) return {};
  const TimestampMs now = context_->clock.now_ms();
  if (last_run_ms_ != INT64_MIN && now >= last_run_ms_ &&
      now - last_run_ms_ < context_->options.expiry_interval_ms) {
    return {};
  }
  last_run_ms_ = now;
  TRY(const bool stopped, stopped_by_jump(now, yield));
  stopped_.Set(stopped ? 1 : 0);
  if (stopped) {
    if (!warned_) {
      log::error(
          "The clock jumped ahead: expiry is paused. Set engine.expire_after_clock_jump = true to "
          "confirm that the clock is right");
    }
    warned_ = true;
    return {};
  }
  warned_ = false;
  TRY_VOID(run(now, yield));
  return context_->chunks->states.note_number(kLastExpiryKey, now);
}

Result<bool> Expiry::stopped_by_jump(TimestampMs now, const YieldFn& yield) {
  TRY(const auto noted, context_->chunks->states.read_number(kStopped));
  const bool was_stopped = noted && *noted != 0;
  bool stopped = false;
  if (!context_->options.expire_after_clock_jump) {
    const std::int64_t span = context_->retention->base().options().span_ms;
    TRY(const auto last_run, context_->chunks->states.read_number(kLastExpiryKey));
    const bool ahead = last_run && now - *last_run > 2 * span;
    // Data that arrived after the jump proves nothing: its times may come from the same clock.
    stopped = ahead && was_stopped;
    if (ahead && !was_stopped) {
      TRY(const bool ahead_too, ahead_of_data(now, 2 * span, yield));
      stopped = ahead_too;
    }
  }
  if (stopped != was_stopped)
    TRY_VOID(context_->chunks->states.note_number(kStopped, stopped ? now : 0));
  return stopped;
}

Result<bool> Expiry::ahead_of_data(TimestampMs now, std::int64_t by_ms, const YieldFn& yield) {
  const std::int64_t span = context_->retention->base().options().span_ms;
  std::int64_t newest = -1;
  bool others = false;
  for (std::uint32_t shard = 0; shard < context_->retention->shard_count(); ++shard) {
    const CyclicLayout& layout = context_->retention->layout_of(shard);
    if (layout.options().ttl_ms == 0) continue;
    TRY(const auto slots, slots_of(shard, yield));
    if (layout.ring_slots() == 0) {
      others = others || !slots.empty();
      continue;
    }
    for (const StoredSlot& slot : slots) newest = std::max(newest, slot.period);
  }
  // Data without a ring was stored without a TTL. It may be forecasts, which do not show the
  // current time. Without data there is nothing to lose.
  if (newest < 0) return others;
  return now - (newest + 1) * span > by_ms;
}

bool Expiry::expired(std::uint32_t shard, const StoredSlot& slot, TimestampMs now) const {
  const CyclicLayout& layout = context_->retention->layout_of(shard);
  if (layout.options().ttl_ms == 0) return false;
  const std::int64_t span = layout.options().span_ms;
  const TimeRange alive = layout.alive(kAllTimes, now);
  const std::int64_t newest = layout.newest_period(slot.number, (alive.end - 1) / span);
  // The period is later than possible: the clock was set back and cannot show what is old.
  if (slot.period > newest) return false;
  return (newest + 1) * span <= alive.begin;
}

// Releases the view before the removal, because it would keep what is dropped.
Result<std::vector<StoredSlot>> Expiry::slots_of(std::uint32_t shard, const YieldFn& yield) const {
  TRY(const auto reader,
      SlotReader::open(context_->chunks->views, context_->retention->layout_of(shard), shard,
                       ReadSource::kDisk));
  return reader->slots(yield);
}

Result<void> Expiry::run(TimestampMs now, const YieldFn& yield) {
  for (std::uint32_t shard = 0; shard < context_->retention->shard_count(); ++shard) {
    TRY(const auto slots, slots_of(shard, yield));
    for (const StoredSlot& slot : slots) {
      if (!expired(shard, slot, now)) continue;
      const Partition partition{
          .shard = shard, .slot = slot.number, .period = static_cast<std::uint32_t>(slot.period)};
      // Everything removable was removed already.
      if (slot.unreadable && !unreadable_.insert(partition).second) continue;
      TRY_VOID(remove(shard, slot, yield));
    }
  }
  return {};
}

Result<void> Expiry::remove(std::uint32_t shard, const StoredSlot& slot, const YieldFn& yield) {
  TRY_VOID(series_gc_.note_slot(shard, slot.number, yield));
  // Flushes continued meanwhile. By now the slot may have points of the next period, which would be
  // removed with the old ones.
  if (!expired(shard, slot, context_->clock.now_ms())) return {};
  const Bytes begin = shard_slot_prefix({.shard = shard, .slot = slot.number});
  Bytes end = prefix_end(begin);
  if (end.empty()) end = Bytes(begin.size() + 64, '\xFF');
  TRY_VOID(context_->chunks->files.drop(begin, end, yield));
  context_->active_series.forget({.period = slot.period, .shard = shard});
  slots_.Increment();
  log::info("removed slot {} of shard {}: its points are older than the retention of {} ms",
            slot.number, shard, context_->retention->layout_of(shard).options().ttl_ms);
  return {};
}

}  // namespace halite::storage::engine
