// Turns a series' points into the change per second since the point before.
//
// The first point's rate is taken against the value 0 at the time 0. OpenTSDB never answers it,
// but adds it to groups until the series' second point; the merge decides (merge.h).
#pragma once

#include <cstddef>

#include "common/clock.h"
#include "common/data_point.h"
#include "query/operators/columns.h"
#include "query/question.h"

namespace halite::query {

// Copies go on independently.
class RateOperator {
 public:
  explicit RateOperator(const RateSpec& spec) : spec_(spec) {}

  // Points in time order, later than all before.
  void add(const PointColumns& points, PointColumns& out);

 private:
  RateSpec spec_;
  TimestampMs time_ = 0;
  ValueBits value_ = integer_bits(0);
  bool is_float_ = false;
};

}  // namespace halite::query
