// Aggregates members whose points have equal timestamps, by columns of values. The result equals
// that of a merge by single timestamps, bit for bit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/data_point.h"
#include "query/parse/aggregator.h"

namespace halite::query {

class ColumnAggregator {
 public:
  // `columns` holds a column of values for each member, in the order of aggregation. All have one
  // length and one type. Appends an aggregate for each position.
  static void integers(const Aggregator& aggregator, std::span<const ValueBits* const> columns,
                       std::size_t length, std::vector<ValueBits>& out);
  static void doubles(const Aggregator& aggregator, std::span<const ValueBits* const> columns,
                      std::size_t length, std::vector<ValueBits>& out);
};

}  // namespace halite::query
