// The active series of each period and shard, so that queries skip the other series of a metric.
//
// Writes are always recorded. The set of a metric is complete once its stored points were examined.
// So nothing is read at start, and a period that is not queried needs memory only for new writes.
//
// A set may contain series whose points were deleted; reading them finds nothing.
//
//   Threads  call from any thread.
//   Order    call note() before the points become readable, in() after you acquire a snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <boost/unordered/unordered_flat_set.hpp>

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

  // Records that these are all series of the metric with stored points, as examined. Every later
  // write must have been recorded by note().
  void learn(const ShardPeriod& shard_period, std::uint64_t metric_uid, const IdSet& series);

  // The series with points in the partition, complete for this metric; null if not known. The set
  // does not change.
  [[nodiscard]] std::shared_ptr<const IdSet> in(const ShardPeriod& shard_period,
                                                std::uint64_t metric_uid) const;

  // Call when the partition is removed.
  void forget(const ShardPeriod& shard_period);

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Alive {
    std::shared_ptr<const IdSet> series = std::make_shared<const IdSet>();
    boost::unordered_flat_set<std::uint64_t> metrics;  // whose series are all known
  };
  static void add(Alive& alive, const IdSet& series);

  mutable std::mutex mutex_;
  std::map<ShardPeriod, Alive> by_shard_period_;  // guarded by mutex_
};

}  // namespace halite::storage
