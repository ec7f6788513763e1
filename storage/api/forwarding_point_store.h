// A point store that passes all calls to another one. Derive from it to change some of them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/api/point_store.h"

namespace halite::storage {

class ForwardingPointStore : public PointStore {
 public:
  // `inner` must outlive it.
  explicit ForwardingPointStore(PointStore& inner) : inner_(inner) {}

  Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create) override {
    return inner_.intern(std::move(names), create);
  }
  [[nodiscard]] std::vector<OverQuotaMetric> over_quota(std::size_t max) const override {
    return inner_.over_quota(max);
  }
  [[nodiscard]] const Series& series(SeriesId id) const override { return inner_.series(id); }
  Task<Accepted> append(PointBatch batch) override { return inner_.append(std::move(batch)); }
  void request_sync() override { inner_.request_sync(); }
  std::shared_ptr<const SeriesPin> pin_series() override { return inner_.pin_series(); }
  Task<std::shared_ptr<const Selection>> select(SeriesQuery query, ReadContext context) override {
    return inner_.select(std::move(query), std::move(context));
  }
  [[nodiscard]] std::uint32_t shard_count() const override { return inner_.shard_count(); }
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override {
    return inner_.scan(std::move(selection), range, shard);
  }
  [[nodiscard]] std::unique_ptr<BlockScan> scan_totals(std::shared_ptr<const Selection> selection,
                                                       TimeRange range, std::uint32_t shard,
                                                       TotalsRequest totals_request) override {
    return inner_.scan_totals(std::move(selection), range, shard, totals_request);
  }
  [[nodiscard]] std::vector<ShardSeriesCount> series_by_shard(
      const Selection& selection) const override {
    return inner_.series_by_shard(selection);
  }
  Task<PinnedSeries> lookup(std::shared_ptr<const Selection> selection,
                            std::size_t limit) override {
    return inner_.lookup(std::move(selection), limit);
  }
  Task<PinnedLastPoints> last(std::shared_ptr<const Selection> selection,
                              TimeRange range) override {
    return inner_.last(std::move(selection), range);
  }
  [[nodiscard]] bool has_local_points() const override { return inner_.has_local_points(); }
  [[nodiscard]] PointChanges* changes() override { return inner_.changes(); }
  [[nodiscard]] TimestampMs kept_from(std::string_view metric) const override {
    return inner_.kept_from(metric);
  }
  Task<ReadEstimate> estimate(std::shared_ptr<const Selection> selection,
                              TimeRange range) override {
    return inner_.estimate(std::move(selection), range);
  }
  Task<std::uint64_t> delete_range(std::shared_ptr<const Selection> selection,
                                   TimeRange range) override {
    return inner_.delete_range(std::move(selection), range);
  }
  Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix,
                                         std::size_t max) override {
    return inner_.suggest(kind, std::move(prefix), max);
  }
  Task<void> series_names(SeriesNamesQuery query, ReadContext context, NameUse use) override {
    return inner_.series_names(std::move(query), std::move(context), std::move(use));
  }
  Task<void> settle() override { return inner_.settle(); }
  Task<void> flush() override { return inner_.flush(); }
  Task<void> seal() override { return inner_.seal(); }

 protected:
  [[nodiscard]] PointStore& inner() const { return inner_; }

 private:
  PointStore& inner_;
};

}  // namespace halite::storage
