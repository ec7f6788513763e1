#include "storage/meta/objects/tracked_point_store.h"

#include <algorithm>
#include <utility>

namespace halite::storage {

Task<Accepted> TrackedPointStore::append(PointBatch batch) {
  std::vector<SeriesId> series = batch.series;
  CO_TRY(Accepted accepted, co_await inner_.append(std::move(batch)));
  // Refusals come in any order; refused points do not count.
  std::vector<std::size_t> refused;
  for (const Refusal& refusal : accepted.refused) refused.push_back(refusal.index);
  std::ranges::sort(refused);
  std::size_t kept = 0;
  auto next = refused.begin();
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (next != refused.end() && *next == i) {
      ++next;
    } else {
      series[kept++] = series[i];
    }
  }
  series.resize(kept);
  tracker_.count(series);
  co_return std::move(accepted);
}

Task<InternedSeries> TrackedPointStore::intern(std::vector<SeriesName> names, CreateNames create) {
  return inner_.intern(std::move(names), create);
}

std::vector<OverQuotaMetric> TrackedPointStore::over_quota(std::size_t max) const {
  return inner_.over_quota(max);
}

const Series& TrackedPointStore::series(SeriesId id) const { return inner_.series(id); }

Task<std::shared_ptr<const Selection>> TrackedPointStore::select(SeriesQuery query,
                                                                 ReadContext context) {
  return inner_.select(std::move(query), std::move(context));
}

std::uint32_t TrackedPointStore::shard_count() const { return inner_.shard_count(); }

std::unique_ptr<BlockScan> TrackedPointStore::scan(std::shared_ptr<const Selection> selection,
                                                   TimeRange range, std::uint32_t shard) {
  return inner_.scan(std::move(selection), range, shard);
}

std::unique_ptr<BlockScan> TrackedPointStore::scan_totals(
    std::shared_ptr<const Selection> selection, TimeRange range, std::uint32_t shard,
    TotalsRequest totals_request) {
  return inner_.scan_totals(std::move(selection), range, shard, totals_request);
}

std::vector<ShardSeriesCount> TrackedPointStore::series_by_shard(const Selection& selection) const {
  return inner_.series_by_shard(selection);
}

Task<PinnedSeries> TrackedPointStore::lookup(std::shared_ptr<const Selection> selection,
                                             std::size_t limit) {
  return inner_.lookup(std::move(selection), limit);
}

Task<PinnedLastPoints> TrackedPointStore::last(std::shared_ptr<const Selection> selection,
                                               TimeRange range) {
  return inner_.last(std::move(selection), range);
}

Task<ReadEstimate> TrackedPointStore::estimate(std::shared_ptr<const Selection> selection,
                                               TimeRange range) {
  return inner_.estimate(std::move(selection), range);
}

Task<std::uint64_t> TrackedPointStore::delete_range(std::shared_ptr<const Selection> selection,
                                                    TimeRange range) {
  return inner_.delete_range(std::move(selection), range);
}

Task<std::vector<std::string>> TrackedPointStore::suggest(NameKind kind, std::string prefix,
                                                          std::size_t max) {
  return inner_.suggest(kind, std::move(prefix), max);
}

Task<void> TrackedPointStore::flush() { return inner_.flush(); }

Task<void> TrackedPointStore::seal() { return inner_.seal(); }

}  // namespace halite::storage
