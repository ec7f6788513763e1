// A point store that passes the series of all accepted points to a TsTracker, even if the points do
// not become durable.
#pragma once

#include "storage/api/forwarding_point_store.h"
#include "storage/meta/objects/ts_tracker.h"

namespace halite::storage {

class TrackedPointStore final : public ForwardingPointStore {
 public:
  // Both must outlive it.
  TrackedPointStore(PointStore& inner, TsTracker& tracker)
      : ForwardingPointStore(inner), tracker_(tracker) {}

  Task<Accepted> append(PointBatch batch) override;

 private:
  TsTracker& tracker_;
};

}  // namespace halite::storage
