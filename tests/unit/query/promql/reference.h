// What an expression of PromQL evaluates to, worked out slowly and plainly from the rules of
// docs/promql.md: one time after the other, all samples looked through for each. It shares with
// query/promql only the tree.
//
//   Lifetime  the tree and the series outlive the call.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/clock.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

using ReferenceLabels = std::map<std::string, std::string>;  // __name__ among them

struct ReferenceSample {
  TimestampMs time = 0;
  double value = 0;  // may be the staleness marker
};

struct ReferenceSeries {
  ReferenceLabels labels;
  std::vector<ReferenceSample> samples;  // in the order of time
};

using ReferenceVector = std::map<ReferenceLabels, double>;
using ReferenceMatrix = std::map<ReferenceLabels, std::vector<ReferenceSample>>;
using ReferenceValue = std::variant<double, std::string, ReferenceVector, ReferenceMatrix>;

enum class ReferenceFailure : std::uint8_t {
  kDuplicate,  // two elements have equal labels
  kMatching,   // the sides of a binary operator do not match one to one
  kParameter,  // such as a label's name that is none
};

struct ReferenceQuery {
  std::vector<TimestampMs> times;  // ascending, not empty
  std::int64_t lookback_ms = 300'000;
  std::int64_t default_step_ms = 60'000;  // of subqueries without one
};

struct ReferenceAnswer {
  // Of all parts of the expression at all times at which they are evaluated: the query must fail
  // with one of these.
  std::set<ReferenceFailure> failures;
  std::vector<ReferenceValue> values;  // one for each time; none if it fails
  bool unspecified = false;            // the rules leave a value open, such as the hour of NaN
};

// The durations of `expr` are resolved. `noise` other than 0 is a seed for what implementations may
// choose: the order in which series are added up, what is kept of equal values, last bits.
[[nodiscard]] ReferenceAnswer reference_answer(const Expr& expr,
                                               const std::vector<ReferenceSeries>& series,
                                               const ReferenceQuery& query,
                                               std::uint64_t noise = 0);

}  // namespace halite::query::promql
