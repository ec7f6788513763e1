#include "storage/tsdb/read/slot_cycles.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace halite::storage::engine {
namespace {

using ByPeriod = std::map<std::int64_t, SlotStatus>;

SlotStatus& slot_of(ByPeriod& slots, std::int64_t period, const CyclicLayout& layout) {
  SlotStatus& state = slots[period];
  state.period = period;
  state.slot = layout.slot_of(period);
  return state;
}

// A file for more slots than this is shown only in the first and the last one: there may be none in
// between.
constexpr std::int64_t kSlotsShown = 1024;

// Of a file for several slots, each has an equal share of the bytes.
void add_file(ByPeriod& slots, const FileExtent& file, const CyclicLayout& layout) {
  const std::int64_t first = std::min(file.first.period, file.last.period);
  const std::int64_t last = std::max(file.first.period, file.last.period);
  const std::int64_t step = last - first < kSlotsShown ? 1 : last - first;
  const auto count = static_cast<std::uint64_t>((last - first) / step + 1);
  for (std::int64_t period = first; period <= last; period += step) {
    SlotStatus& slot = slot_of(slots, period, layout);
    ++slot.files;
    slot.bytes += file.bytes / count;
  }
}

}  // namespace

std::vector<RetentionStatus> retention_status(const EngineContext& context) {
  const Retention& retention = *context.retention;
  const RetentionState classes = retention.state();
  const std::uint32_t salts = retention.base().salt_buckets();
  std::vector<ByPeriod> slots(retention.shard_count() / salts);
  for (const FileExtent& file : context.chunks->tables->file_extents()) {
    const std::size_t index = file.first.shard / salts;
    if (index >= slots.size()) continue;  // the class no longer exists
    const CyclicLayout& layout = retention.layout_of(file.first.shard);
    add_file(slots[index], file, layout);
  }
  const std::shared_ptr<const UnsealedRanges> unsealed = context.chunks->states.unsealed();
  std::vector<RetentionStatus> cycles;
  for (std::size_t index = 0; index < slots.size(); ++index) {
    const CyclicLayout& layout = retention.layout_of(static_cast<std::uint32_t>(index) * salts);
    RetentionStatus cycle{.prefix = index == 0 ? std::string() : classes.classes[index - 1].prefix,
                          .ttl_ms = layout.options().ttl_ms,
                          .span_ms = layout.options().span_ms,
                          .ring_slots = layout.ring_slots(),
                          .slots = {}};
    for (auto& [period, state] : slots[index]) {
      state.sealed = true;
      cycle.slots.push_back(state);
    }
    cycles.push_back(std::move(cycle));
  }
  for (const auto& [partition, what] : *unsealed) {
    const std::size_t index = partition.shard / salts;
    if (index >= cycles.size()) continue;
    std::vector<SlotStatus>& states = cycles[index].slots;
    const auto state =
        std::ranges::lower_bound(states, std::int64_t{partition.period}, {}, &SlotStatus::period);
    if (state == states.end() || state->period != partition.period) continue;
    if (what.begin_ms >= what.end_ms)
      continue;  // sealed before its end, and no data arrived since then
    state->late |= what.late;
    state->sealed &= what.late;
  }
  return cycles;
}

}  // namespace halite::storage::engine
