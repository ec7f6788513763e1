// Brings one row's points into time order, each time once.
//
// Points that arrive in order cost a comparison; only a row that needs it is sorted.
#pragma once

#include <vector>

#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class PointMerge {
 public:
  // Appends to `out`, which outlives this object; what it holds already stays as it is.
  explicit PointMerge(RowPoints& out) : out_(out), begin_(out.times.size()) {}

  void add(TimestampMs time, ValueBits value, std::uint8_t flags, TimestampMs cell_time);

  // Sorts if needed. Of equal times the newest cell time wins, then the point added last.
  void finish();

 private:
  RowPoints& out_;
  std::size_t begin_;  // where ours begin
  std::vector<TimestampMs> cell_times_;
  bool in_order_ = true;
};

}  // namespace halite::storage
