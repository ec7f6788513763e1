// Turns the points of a series into the change per second since the previous point.
//
// The first point's rate is the change from the value 0 at the time 0. OpenTSDB does not output it,
// but adds it to groups until the series' second point. The merge decides (merge.h).
#pragma once

#include "common/clock.h"
#include "common/data_point.h"
#include "query/operators/columns.h"
#include "query/question.h"

namespace halite::query {

// Copies are independent.
class RateOperator {
 public:
  explicit RateOperator(const RateSpec& spec) : spec_(spec) {}

  // Points in time order, later than all earlier ones.
  void add(const PointColumns& points, PointColumns& out);

 private:
  RateSpec spec_;
  TimestampMs time_ = 0;
  ValueBits value_ = integer_bits(0);
  bool is_float_ = false;
};

}  // namespace halite::query
