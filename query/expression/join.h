// Matches the series of several inputs by their tags.
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
  bool use_query_tags = false;   // only the tags that the filters name count
  bool include_agg_tags = true;  // aggregated tags must match, too
};

struct JoinInput {
  std::string id;
  const std::vector<ExpressionSeries>* series = nullptr;
  std::set<std::string> query_tags;  // keys that the filters name
};

struct JoinedSeries {
  SeriesMeaning meaning;
  std::vector<std::optional<std::size_t>> members;  // for each input: index of its series, or none
};

struct Join {
  std::vector<JoinedSeries> series;        // in the order of their tags' UIDs
  std::vector<std::vector<bool>> dropped;  // by input and series: not part of the join
};

// If two series of one input have equal tags, the later one counts. kInvalidArgument: no series is
// in all inputs of an intersection.
[[nodiscard]] Result<Join> join(std::span<const JoinInput> inputs, const JoinSpec& spec,
                                std::string_view id);

// The iteration order of Java's HashMap for keys inserted in this order. It decides which input's
// tags a joined series gets.
[[nodiscard]] std::vector<std::string> java_hash_order(std::vector<std::string> keys,
                                                       std::size_t capacity);

}  // namespace halite::query
