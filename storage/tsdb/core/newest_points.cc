#include "storage/tsdb/core/newest_points.h"

#include <algorithm>

namespace halite::storage::engine {
namespace {

// Entries are scattered in memory: prefetch this many entries ahead.
constexpr std::size_t kAhead = 16;
// An event loop may wait for this lock.
constexpr std::size_t kSeriesPerLock = 256;

}  // namespace

NewestPoints::NewestPoint* NewestPoints::at(SeriesId id) const {
  Page* const page = pages_.find(id / kPageSeries);
  return page == nullptr ? nullptr : &(*page)[id % kPageSeries];
}

NewestPoints::Found NewestPoints::find(std::uint32_t shard_index,
                                       std::span<const SeriesId> series) {
  Found found;
  found.entries.reserve(series.size());
  Shard& shard = shards_[shard_index];
  const std::lock_guard lock(shard.mutex);
  found.version = shard.version;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (i + kAhead < series.size()) __builtin_prefetch(at(series[i + kAhead]));
    const NewestPoint* const entry = at(series[i]);
    found.entries.push_back(entry == nullptr ? NewestPoint{} : *entry);
  }
  return found;
}

void NewestPoints::fill(std::uint32_t shard_index, std::uint64_t version,
                        std::span<const SeriesId> series, std::span<const NewestPoint> entries) {
  Shard& shard = shards_[shard_index];
  const std::lock_guard lock(shard.mutex);
  if (shard.version != version) return;
  for (std::size_t i = 0; i < series.size(); ++i) make(series[i]) = entries[i];
}

// The first part makes a concurrent fill() void. Until the last part the head still has the points.
void NewestPoints::flushed(std::uint32_t shard_index, std::span<const LastPoint> points) {
  Shard& shard = shards_[shard_index];
  do {
    const auto part = points.first(std::min(kSeriesPerLock, points.size()));
    points = points.subspan(part.size());
    const std::lock_guard lock(shard.mutex);
    ++shard.version;
    for (const LastPoint& point : part) {
      NewestPoint* const entry = at(point.series);
      if (entry == nullptr || entry->state == State::kUnknown) continue;
      if (entry->state == State::kPoint && entry->time > point.time) continue;
      *entry = {.time = point.time,
                .value = point.value,
                .is_float = point.is_float,
                .state = State::kPoint};
    }
  } while (!points.empty());
}

void NewestPoints::invalidate(std::uint32_t shard_index, std::span<const SeriesId> series) {
  Shard& shard = shards_[shard_index];
  do {
    const auto part = series.first(std::min(kSeriesPerLock, series.size()));
    series = series.subspan(part.size());
    const std::lock_guard lock(shard.mutex);
    ++shard.version;
    for (const SeriesId id : part) {
      if (NewestPoint* const entry = at(id)) *entry = {};
    }
  } while (!series.empty());
}

}  // namespace halite::storage::engine
