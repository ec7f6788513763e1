// Queries in PromQL, and about the series that selectors name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "query/answer.h"
#include "query/promql/eval/values.h"
#include "query/promql/parse.h"
#include "query/promql/tree.h"
#include "query/selector/selector.h"

namespace halite::query {

struct PromqlQuestion {
  std::string expression;
  promql::Steps steps;
  bool range = false;                       // its answer has the form of a range query
  std::optional<TimestampMs> end;           // as given; it may be later than the last step
  std::optional<std::int64_t> lookback_ms;  // otherwise query.promql_lookback_ms
  std::optional<std::int64_t> timeout_ms;   // if it is shorter than query.timeout_ms
  bool no_cache = false;                    // evaluate all, and keep nothing
};

// The details of errors that are those of the expression, not of its evaluation.
inline constexpr std::string_view kBadExpression = "bad_data";

struct PromqlAnswer {
  promql::Steps steps;
  promql::ValueType type = promql::ValueType::kVector;
  promql::Value value;
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
  bool depends_on_all_steps = false;  // those of fewer steps may be others, not only fewer
  QueryCost cost;
  // What the texts of the labels belong to, and the answer's part of query.answers_bytes_max.
  std::shared_ptr<const void> keeps;
};

struct SeriesQuestion {
  std::vector<Selector> selectors;  // a series that several name is found once; none: all series
  TimeRange range;                  // series without a point in it may be found, too
  bool bounded = false;             // leave such series out, if the store can tell them at low cost
  std::size_t limit = 0;            // of what is found; 0: none
};

struct FoundSeries {
  std::vector<promql::Labels> series;  // sorted, each once
  bool truncated = false;              // there are more than the limit
  std::shared_ptr<const void> keeps;   // what the texts of the labels belong to
  QueryCost cost;
  std::shared_ptr<const AnswerReservation> room = nullptr;  // its part of query.answers_bytes_max
};

struct FoundNames {
  std::vector<std::string> names;  // sorted, each once
  bool truncated = false;
  QueryCost cost;
  std::shared_ptr<const AnswerReservation> room = nullptr;
};

}  // namespace halite::query
