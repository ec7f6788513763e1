// How many new series are taken: in an hour, and of one metric. Who sends too many is counted.
//
// A tag with a value of its own for each request makes millions of series in an hour. Then the new
// ones are refused and those that there are go on. An hour is one of the clock's, from its first
// minute to its last: what is free again when is easy to say.
//
//   Threads   any call from any thread.
//   Lifetime  the clock and the registry outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/clock.h"
#include "common/result.h"
#include "storage/api/point_store.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace halite::storage {

struct NewSeriesLimits {
  std::uint64_t per_hour = 0;    // storage.new_series_per_hour_max; 0 = as many as come
  std::uint64_t per_metric = 0;  // storage.series_per_metric_max, of those known; 0 = any number
};

class NewSeriesQuota {
 public:
  NewSeriesQuota(NewSeriesLimits limits, const Clock& clock, prometheus::Registry& registry);

  // Whether there is any limit: else nobody needs to ask.
  [[nodiscard]] bool limited() const { return limits_.per_hour != 0 || limits_.per_metric != 0; }

  [[nodiscard]] bool limits_metrics() const { return limits_.per_metric != 0; }

  // Room for one more of a metric that has so many. Takes nothing. kTooLarge names the setting.
  [[nodiscard]] Result<void> check(std::uint64_t known_of_metric) const;

  // Room that was taken; goes back when this is destroyed, but for what is kept.
  class Share {
   public:
    explicit Share(NewSeriesQuota& quota) : quota_(&quota) {}
    Share(Share&& other) noexcept
        : quota_(other.quota_), hour_(other.hour_), taken_(std::exchange(other.taken_, 0)) {}
    Share& operator=(Share&&) = delete;
    ~Share() { quota_->give_back(hour_, taken_); }

    // Takes room as of check().
    [[nodiscard]] Result<void> take(std::uint64_t known_of_metric);
    void keep() { taken_ = 0; }

   private:
    NewSeriesQuota* quota_;
    std::int64_t hour_ = 0;  // that all of it is of
    std::uint64_t taken_ = 0;
  };

  // A series was refused, for one of these limits or for all that there may be.
  void count_refused(std::string_view metric);

  // Of this hour and the one before, the worst first.
  [[nodiscard]] std::vector<OverQuotaMetric> over_quota(std::size_t max) const;

 private:
  using ByMetric = boost::unordered_flat_map<std::string, std::uint64_t>;

  struct Hour {
    std::int64_t number = 0;  // since the epoch
    std::uint64_t taken = 0;
    ByMetric refused;
  };

  void give_back(std::int64_t hour, std::uint64_t count);
  void begin_hour() const;  // mutex_ is held
  [[nodiscard]] Result<void> check_locked(std::uint64_t known_of_metric) const;

  const NewSeriesLimits limits_;
  const Clock& clock_;
  prometheus::Counter& refused_;
  mutable std::mutex mutex_;
  mutable Hour hour_;        // guarded by mutex_
  mutable ByMetric before_;  // refused in the hour before; guarded by mutex_
};

}  // namespace halite::storage
