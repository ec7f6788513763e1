#include "storage/tsdb/read/active_filter.h"

#include <algorithm>
#include <mutex>

#include "storage/api/read_context.h"
#include "storage/tsdb/read/stored_series.h"

namespace halite::storage::engine {
namespace {

// Finding the stored series costs one seek for each series of the metric; the scan costs one for
// each selected series. The result is kept, so it may cost as much as several scans.
constexpr std::size_t kLearningCost = 8;
// Ids looked up in a head while its shard is locked.
constexpr std::size_t kIdsPerLock = 4096;

void remove_present(Head& head, std::uint32_t shard, std::vector<SeriesId>& absent) {
  std::vector<SeriesId> still;
  const std::span<const SeriesId> all(absent);
  for (std::size_t begin = 0; begin < all.size(); begin += kIdsPerLock) {
    const std::lock_guard lock(head.shard(shard).mutex());
    for (const SeriesId id : all.subspan(begin, std::min(kIdsPerLock, all.size() - begin))) {
      if (!head.position_of(id)) still.push_back(id);
    }
  }
  absent = std::move(still);
}

// The series of a metric that have cells in a partition. kNotFound if one of them is not in memory.
Result<IdSet> find_stored_series(const EngineContext& context,
                                 const ActiveSeries::ShardPeriod& shard_period,
                                 std::uint64_t metric_uid) {
  IdSet found;
  const auto add = [&](const Bytes& tsuid) -> Result<void> {
    const auto id = context.registry.table().find(tsuid);
    if (!id) return fail(Errc::kNotFound, "a stored series that is not in memory");
    found.add(*id);
    return {};
  };
  TRY_VOID(each_stored_series(context, shard_period, metric_uid, add));
  return found;
}

}  // namespace

Result<ActiveFilter> ActiveFilter::make(EngineContext& context, const RowSelection& selection,
                                        const ActiveQuery& query) {
  ActiveFilter filter(query);
  const RowSelection::Known known = selection.known();
  const std::size_t wanted = known->of_shard(query.shard).size();
  const std::size_t of_metric = known->metric_size() / context.retention->base().salt_buckets();
  const bool worth_it = !selection.by_tsuid() && selection.context().source == ReadSource::kDisk &&
                        wanted >= context.options.list_active_min &&
                        wanted * kLearningCost >= of_metric;
  const ActiveSeries::MetricState metric = {.uid = selection.metric_uid(),
                                            .unloads = context.registry.table().unloads()};
  for (const std::int64_t period : query.periods) {
    const ActiveSeries::ShardPeriod shard_period = {.period = period, .shard = query.shard};
    auto stored = context.active_series.in(shard_period, metric);
    if (stored == nullptr && worth_it) {
      TRY_VOID(selection.context().check());
      const Result<IdSet> found = find_stored_series(context, shard_period, selection.metric_uid());
      if (found) {
        context.active_series.learn(shard_period, metric, *found);
        stored = context.active_series.in(shard_period, metric);
      } else if (found.error().code != Errc::kNotFound &&
                 found.error().code != Errc::kCorruption) {  // otherwise it is unknown
        return std::unexpected(found.error());
      }
    }
    filter.stored_.emplace_back(period, std::move(stored));
  }
  std::ranges::sort(filter.stored_, {}, [](const auto& one) { return one.first; });
  return filter;
}

std::vector<SeriesId> ActiveFilter::alive(std::span<const SeriesId> series) const {
  const auto unknown = [](const auto& one) { return one.second == nullptr; };
  if (std::ranges::any_of(stored_, unknown)) return {series.begin(), series.end()};
  const auto stored = [this](SeriesId id) {
    return std::ranges::any_of(stored_, [id](const auto& one) { return one.second->contains(id); });
  };
  std::vector<SeriesId> absent;
  for (const SeriesId id : series) {
    if (!stored(id)) absent.push_back(id);
  }
  for (const std::shared_ptr<Head>& head : heads_) remove_present(*head, shard_, absent);
  // Both are in the same order.
  std::vector<SeriesId> alive;
  alive.reserve(series.size() - absent.size());
  auto next = absent.begin();
  for (const SeriesId id : series) {
    if (next != absent.end() && *next == id) {
      ++next;
    } else {
      alive.push_back(id);
    }
  }
  return alive;
}

bool ActiveFilter::may_be_stored(std::int64_t period, SeriesId id) const {
  const auto found =
      std::ranges::lower_bound(stored_, period, {}, [](const auto& one) { return one.first; });
  if (found == stored_.end() || found->first != period) return true;
  return found->second == nullptr || found->second->contains(id);
}

}  // namespace halite::storage::engine
