// Functions over range vectors: rate(), sum_over_time() and others. docs/query/promql.md
#pragma once

#include <span>
#include <string_view>

#include "common/result.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

struct RangeFunction {
  std::string_view name;
  // The value of a window, or kAbsent. `parameters` are the scalar arguments at this step, in the
  // order of the text. The window is the only other argument.
  double (*evaluate)(const Window& window, std::span<const double> parameters);
  // Whether parameters are valid; null: all are. Its error ends the query.
  Result<void> (*check)(std::span<const double> parameters) = nullptr;
  bool keeps_name = false;
  bool wants_counter = false;  // rate(), increase(): an info if the name is not that of a counter
  // The same for as many windows as there are `values`, without parameters and without resets of
  // counters; null: evaluate() does it.
  void (*evaluate_shifted)(const ShiftedWindows& windows, std::span<double> values) = nullptr;
};

// The length of a range, rounded as Go converts it.
[[nodiscard]] double seconds_of_range(const Window& window);

[[nodiscard]] double evaluate_changes(const Window& window, std::span<const double> parameters);
[[nodiscard]] double evaluate_resets(const Window& window, std::span<const double> parameters);

// Null if it is none of these, such as absent_over_time(), which no single series decides.
[[nodiscard]] const RangeFunction* find_range_function(std::string_view name);

}  // namespace halite::query::promql
