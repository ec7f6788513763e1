// Aggregates members whose points stand at the same times: columns of values instead of one step
// at a time. Gives, bit for bit, what a merge step by step gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/data_point.h"
#include "query/parse/aggregator.h"

namespace halite::query {

class ColumnAggregator {
 public:
  // A column of values for each member, in the order in which they combine; all of one length and
  // one type. Appends an aggregate for each place.
  static void integers(const Aggregator& aggregator, std::span<const ValueBits* const> columns,
                       std::size_t length, std::vector<ValueBits>& out);
  static void doubles(const Aggregator& aggregator, std::span<const ValueBits* const> columns,
                      std::size_t length, std::vector<ValueBits>& out);
};

}  // namespace halite::query
