// Computes the totals of a view's groups from points.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/point_store.h"
#include "storage/cells/layouts/row_layout.h"
#include "storage/views/view_cell.h"
#include "storage/views/view_rules.h"

namespace halite::storage {

// The tsuid of the group of a series: the metric with the tags that the view keeps.
[[nodiscard]] Bytes group_of(const ViewRule& rule, const UidWidths& widths, const Series& series);

// The totals of one view in a range of whole buckets. Not thread-safe.
class GroupTotals {
 public:
  // By tsuid of the group; one element for each bucket of the range.
  using Groups = std::map<Bytes, std::vector<BucketTotals>>;

  // The rule must outlive it.
  GroupTotals(const ViewRule& rule, UidWidths widths, TimeRange range)
      : rule_(&rule), widths_(widths), range_(range) {}

  // Adds points, or totals of spans that divide buckets, which have no sketches. Ignores those
  // outside the range.
  void add(const Series& series, const Block& block);
  void add(GroupTotals&& more);

  [[nodiscard]] const Groups& groups() const { return groups_; }
  [[nodiscard]] TimeRange range() const { return range_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<BucketTotals>& buckets_of(const Series& series);
  [[nodiscard]] std::size_t bucket_count() const {
    return static_cast<std::size_t>((range_.end - range_.begin) / rule_->interval_ms);
  }

  const ViewRule* rule_;
  UidWidths widths_;
  TimeRange range_;
  Groups groups_;
  boost::unordered_flat_map<SeriesId, std::vector<BucketTotals>*> by_series_;
  std::size_t sketch_bytes_ = 0;
};

// The totals to compute of one view.
struct WantedTotals {
  const ViewRule* rule = nullptr;
  TimeRange range;  // whole buckets
};

// Computes totals of several views of one metric from its points in `range`. All shards are read in
// parallel, and all views are computed in one pass. kTooLarge: the totals exceed `bytes_max`; read
// a shorter range.
struct TotalsReading {
  PointStore& points;
  std::shared_ptr<const Selection> selection;
  TimeRange range;
  std::vector<WantedTotals> wanted;
  UidWidths widths;
  std::size_t bytes_max = 0;
  std::atomic<std::uint64_t> points_read = 0;  // or totals in their place
};
[[nodiscard]] Task<std::vector<GroupTotals>> read_totals(TotalsReading& reading);

}  // namespace halite::storage
