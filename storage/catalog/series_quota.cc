#include "storage/catalog/series_quota.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/metrics.h"
#include "common/units.h"

namespace halite::storage {

namespace {

// Names come from clients, so only this many are kept: those with the most refusals.
constexpr std::size_t kMetricsKept = 1000;

}  // namespace

NewSeriesQuota::NewSeriesQuota(NewSeriesLimits limits, const Clock& clock,
                               prometheus::Registry& registry)
    : limits_(limits),
      clock_(clock),
      refused_(add_counter(registry, "halite_new_series_refused_total",
                           "Attempts to create a series refused because of a series limit.")) {}

// A clock that goes back also begins a new hour, which admits more series rather than none.
void NewSeriesQuota::begin_hour() const {
  const std::int64_t number = clock_.now_ms() / kHourMs;
  if (number == hour_.number) return;
  before_ = number == hour_.number + 1 ? std::move(hour_.refused) : ByMetric();
  hour_ = Hour{.number = number, .taken = 0, .refused = {}};
}

Result<void> NewSeriesQuota::check_locked(std::uint64_t known_of_metric) const {
  if (limits_.per_metric != 0 && known_of_metric >= limits_.per_metric) {
    return fail(
        Errc::kTooLarge,
        fmt::format("too many series: the limit is {} per metric (storage.series_per_metric_max)",
                    limits_.per_metric));
  }
  begin_hour();
  if (limits_.per_hour != 0 && hour_.taken >= limits_.per_hour) {
    return fail(Errc::kTooLarge,
                fmt::format("too many new series: the limit is {} per hour "
                            "(storage.new_series_per_hour_max); try again in {} s",
                            limits_.per_hour,
                            ((hour_.number + 1) * kHourMs - clock_.now_ms() + 999) / 1000));
  }
  return {};
}

Result<void> NewSeriesQuota::check(std::uint64_t known_of_metric) const {
  const std::lock_guard lock(mutex_);
  return check_locked(known_of_metric);
}

Result<void> NewSeriesQuota::Share::take(std::uint64_t known_of_metric) {
  const std::lock_guard lock(quota_->mutex_);
  TRY_VOID(quota_->check_locked(known_of_metric));
  ++quota_->hour_.taken;
  if (hour_ != quota_->hour_.number) taken_ = 0;
  hour_ = quota_->hour_.number;
  ++taken_;
  return {};
}

// Quota of a past hour is not returned; a restarted hour may have less than that.
void NewSeriesQuota::give_back(std::int64_t hour, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  if (hour == hour_.number) hour_.taken -= std::min(hour_.taken, count);
}

// Keeps memory bounded for any number of names: if the table is full, halves all counts and removes
// those of 1. The metrics with the most refusals stay, with approximate counts.
void NewSeriesQuota::count_refused(std::string_view metric) {
  refused_.Increment();
  const std::lock_guard lock(mutex_);
  begin_hour();
  while (hour_.refused.size() >= kMetricsKept && !hour_.refused.contains(std::string(metric))) {
    for (auto& [name, count] : hour_.refused) count /= 2;
    boost::unordered::erase_if(hour_.refused, [](const auto& entry) { return entry.second == 0; });
  }
  ++hour_.refused[std::string(metric)];
}

std::vector<OverQuotaMetric> NewSeriesQuota::over_quota(std::size_t max) const {
  ByMetric sums;
  {
    const std::lock_guard lock(mutex_);
    begin_hour();
    sums = before_;
    for (const auto& [name, count] : hour_.refused) sums[name] += count;
  }
  std::vector<OverQuotaMetric> metrics;
  for (const auto& [name, count] : sums) metrics.push_back({.metric = name, .refused = count});
  std::ranges::sort(metrics, [](const OverQuotaMetric& a, const OverQuotaMetric& b) {
    return a.refused != b.refused ? a.refused > b.refused : a.metric < b.metric;
  });
  if (metrics.size() > max) metrics.resize(max);
  return metrics;
}

}  // namespace halite::storage
