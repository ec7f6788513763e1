// Points of a store that this process has opened.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/bulk/point_source.h"
#include "storage/api/point_store.h"

namespace halite::app {

// Series to read.
struct SourceMatch {
  std::string metric;  // may end in "*"
  std::vector<storage::TagFilter> filters;
};

[[nodiscard]] bool matches_metric(const SourceMatch& match, std::string_view metric);

class StoreSource final : public PointSource {
 public:
  // The store outlives the source. Without matches: all series. `range_ms_min`: the span of what
  // the store reads at once.
  StoreSource(storage::PointStore& store, std::vector<SourceMatch> matches,
              std::int64_t range_ms_min);

  Result<std::vector<std::string>> metrics() override;
  Result<std::vector<ingest::SeriesPoints>> read(const SourceSlice& slice,
                                                 std::size_t points_max) override;
  void refresh() override;
  // All at once: a read ends early if it has too many points.
  [[nodiscard]] SliceRanges ranges() const override {
    constexpr std::int64_t kAll = INT64_MAX / 64;
    return {.min = range_ms_min_, .first = kAll, .max = kAll};
  }
  [[nodiscard]] bool has_parts() const override { return true; }

 private:
  using SelectionPtr = std::shared_ptr<const storage::Selection>;
  struct Metric {
    SelectionPtr all;           // null if several selections make up its series
    std::vector<Bytes> tsuids;  // of its series, in order
  };
  Result<std::shared_ptr<const Metric>> metric(const std::string& name);
  Result<SelectionPtr> select(storage::SeriesQuery query);
  Result<std::vector<ingest::SeriesPoints>> read_selection(const SelectionPtr& selection,
                                                           TimeRange range, std::size_t points_max);

  storage::PointStore& store_;
  const std::vector<SourceMatch> matches_;
  const std::int64_t range_ms_min_;
  std::mutex mutex_;
  // Of the metrics that were read last: more than there are threads, because parts of a metric are
  // parts of one list of its series. Guarded by mutex_.
  struct Known {
    std::string name;
    std::shared_ptr<const Metric> metric;
  };
  static constexpr std::size_t kMetricsMax = 64;
  std::deque<Known> metrics_;
};

}  // namespace halite::app
