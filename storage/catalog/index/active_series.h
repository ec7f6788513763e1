// The active series of each period and shard, so that queries skip the other series of a metric.
//
// Writes are always recorded. The set of a metric is complete once its stored points were examined.
// So nothing is read at start, and a period that is not queried needs memory only for new writes.
//
// A set may contain series whose points were deleted; reading them finds nothing. When series are
// unloaded, they may get other ids; the count of unloads shows which sets were examined since then.
//
//   Threads  call from any thread.
//   Order    call note() before the points become readable, in() after you acquire a snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/api/series.h"
#include "storage/catalog/index/posting_list.h"

namespace halite::storage {

class ActiveSeries {
 public:
  // The place of a partition.
  struct ShardPeriod {
    std::int64_t period = 0;
    std::uint32_t shard = 0;
    auto operator<=>(const ShardPeriod&) const = default;
  };

  // Records that these series get points in the partition.
  void note(const ShardPeriod& shard_period, const IdSet& series);

  // A metric as the series table had it after so many unloads (SeriesTable::unloads()).
  struct MetricState {
    std::uint64_t uid = 0;
    std::uint64_t unloads = 0;
  };
  // Records that these are all series of the metric with stored points, as examined after
  // `unloads` was read. Every later write must have been recorded by note().
  void learn(const ShardPeriod& shard_period, MetricState metric, const IdSet& series);

  // The series with points in the partition, complete for this metric; null if not known. The set
  // does not change.
  [[nodiscard]] std::shared_ptr<const IdSet> in(const ShardPeriod& shard_period,
                                                MetricState metric) const;

  // Call when the partition is removed.
  void forget(const ShardPeriod& shard_period);

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Alive {
    std::shared_ptr<const IdSet> series = std::make_shared<const IdSet>();
    // Metrics whose series are all known, with MetricState::unloads.
    boost::unordered_flat_map<std::uint64_t, std::uint64_t> metrics;
  };
  static void add(Alive& alive, const IdSet& series);

  mutable std::mutex mutex_;
  std::map<ShardPeriod, Alive> by_shard_period_;  // guarded by mutex_
};

}  // namespace halite::storage
