// Sorts the points of a row by time and removes duplicate times.
//
// Points that arrive in order cost one comparison; only other rows are sorted.
#pragma once

#include <vector>

#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class PointMerge {
 public:
  // Appends to `out`, which must outlive this object; existing contents are unchanged.
  explicit PointMerge(RowPoints& out) : out_(out), begin_(out.times.size()) {}

  void add(TimestampMs time, ValueBits value, std::uint8_t flags, TimestampMs cell_time);

  // Sorts if needed. Of equal times the newest cell time wins, then the point added last.
  void finish();

 private:
  RowPoints& out_;
  std::size_t begin_;  // index of the first appended point
  std::vector<TimestampMs> cell_times_;
  bool in_order_ = true;
};

}  // namespace halite::storage
