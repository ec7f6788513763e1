#include "storage/catalog/index/alive_series.h"

namespace halite::storage {

// Those who have the set keep it as it is.
void AliveSeries::add(Alive& alive, const IdSet& series) {
  if (series.isSubset(*alive.series)) return;
  auto more = std::make_shared<IdSet>(*alive.series);
  *more |= series;
  more->runOptimize();
  alive.series = std::move(more);
}

void AliveSeries::note(const Place& place, const IdSet& series) {
  const std::lock_guard lock(mutex_);
  add(places_[place], series);
}

void AliveSeries::learn(const Place& place, std::uint64_t metric_uid, const IdSet& series) {
  const std::lock_guard lock(mutex_);
  Alive& alive = places_[place];
  add(alive, series);
  alive.metrics.insert(metric_uid);
}

std::shared_ptr<const IdSet> AliveSeries::in(const Place& place, std::uint64_t metric_uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(place);
  if (found == places_.end() || !found->second.metrics.contains(metric_uid)) return nullptr;
  return found->second.series;
}

void AliveSeries::forget(const Place& place) {
  const std::lock_guard lock(mutex_);
  places_.erase(place);
}

std::size_t AliveSeries::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [place, alive] : places_) {
    bytes += sizeof(Alive) + alive.series->getSizeInBytes(false) +
             (alive.metrics.size() * sizeof(std::uint64_t));
  }
  return bytes;
}

}  // namespace halite::storage
