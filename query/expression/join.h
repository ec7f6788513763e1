// Finds the series of several inputs that belong together: those with the same tags.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "query/expression/series.h"

namespace halite::query {

enum class JoinOperator : std::uint8_t { kUnion, kIntersection };

struct JoinSpec {
  JoinOperator op = JoinOperator::kUnion;
  bool use_query_tags = false;   // only the tags that the filters name
  bool include_agg_tags = true;  // also the aggregated tags must agree
};

struct JoinInput {
  std::string id;
  const std::vector<ExpressionSeries>* series = nullptr;
  std::set<std::string> query_tags;  // keys that the filters name
};

struct JoinedSeries {
  SeriesMeaning meaning;
  std::vector<std::optional<std::size_t>> members;  // of each input: index of its series, or none
};

struct Join {
  std::vector<JoinedSeries> series;        // in the order of their tags' ids
  std::vector<std::vector<bool>> dropped;  // of each input and series: takes no part
};

// Of two series of one input with the same tags the later counts. kInvalidArgument: nothing is in
// all inputs of an intersection.
[[nodiscard]] Result<Join> join(std::span<const JoinInput> inputs, const JoinSpec& spec,
                                std::string_view id);

// The order in which Java's HashMap walks over keys put in this order. Which input gives a joined
// series its tags depends on it.
[[nodiscard]] std::vector<std::string> java_hash_order(std::vector<std::string> keys,
                                                       std::size_t capacity);

}  // namespace halite::query
