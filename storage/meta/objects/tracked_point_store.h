// A point store that passes the series of all accepted points to a TsTracker, even if the points do
// not become durable. All other calls go to the inner store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/meta/objects/ts_tracker.h"

namespace halite::storage {

class TrackedPointStore final : public PointStore {
 public:
  // Both must outlive it.
  TrackedPointStore(PointStore& inner, TsTracker& tracker) : inner_(inner), tracker_(tracker) {}

  Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create) override;
  [[nodiscard]] std::vector<OverQuotaMetric> over_quota(std::size_t max) const override;
  [[nodiscard]] const Series& series(SeriesId id) const override;
  Task<Accepted> append(PointBatch batch) override;
  void request_sync() override { inner_.request_sync(); }
  std::shared_ptr<const SeriesPin> pin_series() override { return inner_.pin_series(); }
  Task<std::shared_ptr<const Selection>> select(SeriesQuery query, ReadContext context) override;
  [[nodiscard]] std::uint32_t shard_count() const override;
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override;
  [[nodiscard]] std::unique_ptr<BlockScan> scan_totals(std::shared_ptr<const Selection> selection,
                                                       TimeRange range, std::uint32_t shard,
                                                       TotalsRequest totals_request) override;
  [[nodiscard]] std::vector<ShardSeriesCount> series_by_shard(
      const Selection& selection) const override;
  Task<PinnedSeries> lookup(std::shared_ptr<const Selection> selection, std::size_t limit) override;
  Task<PinnedLastPoints> last(std::shared_ptr<const Selection> selection, TimeRange range) override;
  Task<ReadEstimate> estimate(std::shared_ptr<const Selection> selection, TimeRange range) override;
  Task<std::uint64_t> delete_range(std::shared_ptr<const Selection> selection,
                                   TimeRange range) override;
  Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix,
                                         std::size_t max) override;
  Task<void> flush() override;
  Task<void> seal() override;

 private:
  PointStore& inner_;
  TsTracker& tracker_;
};

}  // namespace halite::storage
