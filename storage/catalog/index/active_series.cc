#include "storage/catalog/index/active_series.h"

namespace halite::storage {

// Copies the set, because readers keep the old one.
void ActiveSeries::add(Alive& alive, const IdSet& series) {
  if (series.isSubset(*alive.series)) return;
  auto more = std::make_shared<IdSet>(*alive.series);
  *more |= series;
  more->runOptimize();
  alive.series = std::move(more);
}

void ActiveSeries::note(const ShardPeriod& shard_period, const IdSet& series) {
  const std::lock_guard lock(mutex_);
  add(by_shard_period_[shard_period], series);
}

void ActiveSeries::learn(const ShardPeriod& shard_period, MetricState metric, const IdSet& series) {
  const std::lock_guard lock(mutex_);
  Alive& alive = by_shard_period_[shard_period];
  add(alive, series);
  alive.metrics[metric.uid] = metric.unloads;
}

std::shared_ptr<const IdSet> ActiveSeries::in(const ShardPeriod& shard_period,
                                              MetricState metric) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_shard_period_.find(shard_period);
  if (found == by_shard_period_.end()) return nullptr;
  const auto known = found->second.metrics.find(metric.uid);
  if (known == found->second.metrics.end() || known->second != metric.unloads) return nullptr;
  return found->second.series;
}

void ActiveSeries::forget(const ShardPeriod& shard_period) {
  const std::lock_guard lock(mutex_);
  by_shard_period_.erase(shard_period);
}

std::size_t ActiveSeries::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [shard_period, alive] : by_shard_period_) {
    bytes += sizeof(Alive) + alive.series->getSizeInBytes(false) +
             (alive.metrics.size() * 2 * sizeof(std::uint64_t));
  }
  return bytes;
}

}  // namespace halite::storage
