// Which series have stored points in which slot: what keeps dead series of a metric from costing
// anything but their bit.
//
// Kept by generation of a slot and by shard. What is written is noted always; whether that is
// everything is known for a metric once it was looked at in what is stored. So nothing is read at
// start-up, and a slot that nobody asks about costs what was written into it.
//
// A set may hold series whose points have gone since (deleted): they cost a look in vain.
//
//   Threads  any call from any thread.
//   Order    note() before what it tells of can be read; in() after what is read has been chosen.
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
  // Where series have points.
  struct ShardPeriod {
    std::int64_t period = 0;
    std::uint32_t shard = 0;
    auto operator<=>(const ShardPeriod&) const = default;
  };

  // These series get points there.
  void note(const ShardPeriod& shard_period, const IdSet& series);

  // These are all series of the metric that had points there when that was looked up, and none has
  // got points since that was not noted.
  void learn(const ShardPeriod& shard_period, std::uint64_t metric_uid, const IdSet& series);

  // The series that have points there, of this metric all of them; null while that is not known.
  // The set never changes.
  [[nodiscard]] std::shared_ptr<const IdSet> in(const ShardPeriod& shard_period,
                                                std::uint64_t metric_uid) const;

  // Nothing of that generation is stored any more.
  void forget(const ShardPeriod& shard_period);

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Alive {
    std::shared_ptr<const IdSet> series = std::make_shared<const IdSet>();
    boost::unordered_flat_set<std::uint64_t> metrics;  // that are known
  };
  static void add(Alive& alive, const IdSet& series);

  mutable std::mutex mutex_;
  std::map<ShardPeriod, Alive> by_shard_period_;  // guarded by mutex_
};

}  // namespace halite::storage
