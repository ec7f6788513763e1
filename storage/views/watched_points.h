// The points under views: a change of points first takes away the bits of the units that it
// outdates (view_changes.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/api/forwarding_point_store.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/views/view_changes.h"

namespace halite::storage {

class WatchedPoints final : public ForwardingPointStore {
 public:
  // The time from which on points of a metric have not expired.
  using KeptFrom = std::function<TimestampMs(std::string_view metric)>;

  // All references must outlive it.
  WatchedPoints(PointStore& points, UidTable& uids, UidWidths widths, ViewChanges& changes,
                KeptFrom kept_from)
      : ForwardingPointStore(points),
        uids_(uids),
        widths_(widths),
        changes_(changes),
        kept_from_(std::move(kept_from)) {}

  // As PointStore. A late point is kInvalidArgument if a view keeps the totals of its time, whose
  // other points have expired.
  Task<Accepted> append(PointBatch batch) override;
  Task<std::uint64_t> delete_range(std::shared_ptr<const Selection> selection,
                                   TimeRange range) override;

 private:
  // The points of a batch that may lie in built units.
  struct Late {
    std::vector<ViewChanges::Change> changes;                    // by metric and hour
    std::vector<std::pair<std::size_t, std::size_t>> change_of;  // position of a point, of a change
  };
  [[nodiscard]] Late late_points(const PointBatch& batch, TimestampMs watched) const;
  // Removes points of units that stay. `taken`: the positions of the others.
  static std::vector<Refusal> refuse(PointBatch& batch, const Late& late,
                                     std::vector<std::size_t>& taken);

  UidTable& uids_;
  const UidWidths widths_;
  ViewChanges& changes_;
  const KeptFrom kept_from_;
};

}  // namespace halite::storage
