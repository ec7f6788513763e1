#include "storage/engine/expiry.h"

#include <algorithm>
#include <vector>

#include "common/log.h"
#include "storage/engine/slot_reader.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kLastRun = "expiry";
constexpr TimeRange kAllTimes = {.begin = INT64_MIN, .end = INT64_MAX};

}  // namespace

Expiry::Expiry(std::shared_ptr<Core> core, Forgetting& forgetting, prometheus::Registry& registry)
    : core_(std::move(core)),
      forgetting_(forgetting),
      slots_(prometheus::BuildCounter()
                 .Name("halite_engine_expired_slots_total")
                 .Help("Slots of a shard that were removed because they were older than the TTL.")
                 .Register(registry)
                 .Add({})) {}

Result<void> Expiry::run_due() {
  const Retention& retention = *core_->retention;
  bool anything_expires = false;
  for (std::uint32_t shard = 0; shard < retention.shard_count(); ++shard) {
    if (retention.layout_of(shard).options().ttl_ms != 0) anything_expires = true;
  }
  if (!anything_expires) return {};
  const TimestampMs now = core_->clock.now_ms();
  if (last_run_ms_ != INT64_MIN && now >= last_run_ms_ &&
      now - last_run_ms_ < core_->options.expiry_interval_ms) {
    return {};
  }
  last_run_ms_ = now;
  TRY(const bool jumped, clock_jumped(now));
  if (jumped && !core_->options.expire_after_clock_jump) {
    if (!warned_) {
      log::error(
          "the clock is far ahead of all data and of the last removal of expired data: "
          "nothing is removed until engine.expire_after_clock_jump says that it is right");
    }
    warned_ = true;
    return {};
  }
  warned_ = false;
  TRY_VOID(run(now));
  return core_->chunks->note_time(kLastRun, now);
}

Result<bool> Expiry::clock_jumped(TimestampMs now) {
  const std::int64_t span = core_->retention->base().options().span_ms;
  TRY(const auto last_run, core_->chunks->read_time(kLastRun));
  if (!last_run || now - *last_run <= 2 * span) return false;
  std::int64_t newest = -1;
  for (std::uint32_t shard = 0; shard < core_->retention->shard_count(); ++shard) {
    TRY(const auto reader,
        SlotReader::open(*core_->chunks, core_->retention->layout_of(shard), shard));
    TRY(const auto slots, reader->slots());
    for (const SlotReader::Slot& slot : slots) newest = std::max(newest, slot.generation);
  }
  // Without data there is nothing to lose.
  return newest >= 0 && now - (newest + 1) * span > 2 * span;
}

bool Expiry::expired(std::uint32_t shard, std::uint32_t slot, TimestampMs now) const {
  const CyclicLayout& layout = core_->retention->layout_of(shard);
  if (layout.options().ttl_ms == 0) return false;
  const std::int64_t span = layout.options().span_ms;
  const TimeRange alive = layout.alive(kAllTimes, now);
  const std::int64_t newest = layout.newest_generation(slot, (alive.end - 1) / span);
  return (newest + 1) * span <= alive.begin;
}

Result<void> Expiry::run(TimestampMs now) {
  for (std::uint32_t shard = 0; shard < core_->retention->shard_count(); ++shard) {
    TRY(const auto reader,
        SlotReader::open(*core_->chunks, core_->retention->layout_of(shard), shard));
    TRY(const auto slots, reader->slots());
    for (const SlotReader::Slot& slot : slots) {
      if (!expired(shard, slot.number, now)) continue;
      const Bytes begin = place_prefix({.shard = shard, .slot = slot.number});
      Bytes end = prefix_end(begin);
      if (end.empty()) end = Bytes(begin.size() + 64, '\xFF');
      TRY_VOID(forgetting_.note_slot(shard, slot.number));
      TRY_VOID(core_->chunks->drop(begin, end));
      core_->alive.forget({.generation = slot.generation, .shard = shard});
      slots_.Increment();
    }
  }
  return {};
}

}  // namespace halite::storage::engine
