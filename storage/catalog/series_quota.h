// The new-series quota: limits on new series in an hour and on the series of a metric.
//
// A tag with a new value for each request creates millions of series in an hour. Above a limit, new
// series are refused and existing ones continue. An hour is a clock hour, from minute 0 to 59, so
// that you can tell when the quota is free again.
//
//   Threads   call from any thread.
//   Lifetime  the clock and the registry must outlive it.
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
  std::uint64_t per_hour = 0;    // storage.new_series_per_hour_max; 0 = unlimited
  std::uint64_t per_metric = 0;  // storage.series_per_metric_max, of known series; 0 = unlimited
};

class NewSeriesQuota {
 public:
  NewSeriesQuota(NewSeriesLimits limits, const Clock& clock, prometheus::Registry& registry);

  // Whether there is any limit.
  [[nodiscard]] bool limited() const { return limits_.per_hour != 0 || limits_.per_metric != 0; }

  [[nodiscard]] bool limits_metrics() const { return limits_.per_metric != 0; }

  // Checks whether a metric with this number of series may have one more. kTooLarge names the
  // setting.
  [[nodiscard]] Result<void> check(std::uint64_t known_of_metric) const;

  // A part of the quota. The destructor returns it unless keep() was called.
  class Share {
   public:
    explicit Share(NewSeriesQuota& quota) : quota_(&quota) {}
    Share(Share&& other) noexcept
        : quota_(other.quota_), hour_(other.hour_), taken_(std::exchange(other.taken_, 0)) {}
    Share& operator=(Share&&) = delete;
    ~Share() { quota_->give_back(hour_, taken_); }

    // Takes quota for one series; errors as check().
    [[nodiscard]] Result<void> take(std::uint64_t known_of_metric);
    void keep() { taken_ = 0; }

   private:
    NewSeriesQuota* quota_;
    std::int64_t hour_ = 0;  // when it was taken
    std::uint64_t taken_ = 0;
  };

  // Counts a refusal because of the quota or of the limits of the series table.
  void count_refused(std::string_view metric);

  // Of this hour and the previous one; most refused points first.
  [[nodiscard]] std::vector<OverQuotaMetric> over_quota(std::size_t max) const;

 private:
  using ByMetric = boost::unordered_flat_map<std::string, std::uint64_t>;

  struct Hour {
    std::int64_t number = 0;  // hours since 1970
    std::uint64_t taken = 0;
    ByMetric refused;
  };

  void give_back(std::int64_t hour, std::uint64_t count);
  void begin_hour() const;  // needs mutex_
  [[nodiscard]] Result<void> check_locked(std::uint64_t known_of_metric) const;

  const NewSeriesLimits limits_;
  const Clock& clock_;
  prometheus::Counter& refused_;
  mutable std::mutex mutex_;
  mutable Hour hour_;        // guarded by mutex_
  mutable ByMetric before_;  // refused in the previous hour; guarded by mutex_
};

}  // namespace halite::storage
