// All functions of Prometheus 3.14.
#include <array>
#include <initializer_list>
#include <unordered_map>

#include "query/promql/tree.h"

namespace halite::query::promql {
namespace {

using enum ValueType;

// From an instant vector to another one.
constexpr auto kOfVector = std::to_array<std::string_view>({"abs",
                                                            "absent",
                                                            "acos",
                                                            "acosh",
                                                            "asin",
                                                            "asinh",
                                                            "atan",
                                                            "atanh",
                                                            "ceil",
                                                            "cos",
                                                            "cosh",
                                                            "deg",
                                                            "exp",
                                                            "floor",
                                                            "histogram_avg",
                                                            "histogram_count",
                                                            "histogram_stddev",
                                                            "histogram_stdvar",
                                                            "histogram_sum",
                                                            "ln",
                                                            "log10",
                                                            "log2",
                                                            "rad",
                                                            "sgn",
                                                            "sin",
                                                            "sinh",
                                                            "sort",
                                                            "sort_desc",
                                                            "sqrt",
                                                            "tan",
                                                            "tanh",
                                                            "timestamp"});

// Parts of a date: of the time of evaluation without an argument.
constexpr auto kOfDate =
    std::to_array<std::string_view>({"day_of_month", "day_of_week", "day_of_year", "days_in_month",
                                     "hour", "minute", "month", "year"});

// From a range vector to an instant vector.
constexpr auto kOfMatrix = std::to_array<std::string_view>(
    {"absent_over_time",
     "avg_over_time",
     "changes",
     "count_over_time",
     "default_rollup",  // of MetricsQL: vmalert asks for the state of its alerts with it
     "delta",
     "deriv",
     "first_over_time",
     "idelta",
     "increase",
     "irate",
     "last_over_time",
     "max_over_time",
     "min_over_time",
     "present_over_time",
     "rate",
     "resets",
     "stddev_over_time",
     "stdvar_over_time",
     "sum_over_time"});
constexpr auto kExperimentalOfMatrix = std::to_array<std::string_view>(
    {"mad_over_time", "ts_of_first_over_time", "ts_of_last_over_time", "ts_of_max_over_time",
     "ts_of_min_over_time"});

using Functions = std::unordered_map<std::string_view, Function>;

void add_others(Functions& functions) {
  const auto add = [&functions](std::string_view name, std::initializer_list<ValueType> arguments,
                                int variadic, ValueType returns, bool experimental = false) {
    functions.emplace(name, Function{name, arguments, variadic, returns, experimental});
  };
  add("clamp", {kVector, kScalar, kScalar}, 0, kVector);
  add("clamp_max", {kVector, kScalar}, 0, kVector);
  add("clamp_min", {kVector, kScalar}, 0, kVector);
  add("double_exponential_smoothing", {kMatrix, kScalar, kScalar}, 0, kVector, true);
  add("end", {}, 0, kScalar, true);
  add("histogram_fraction", {kScalar, kScalar, kVector}, 0, kVector);
  add("histogram_quantile", {kScalar, kVector}, 0, kVector);
  add("histogram_quantiles", {kVector, kString, kScalar, kScalar}, 9, kVector, true);
  add("info", {kVector, kVector}, 1, kVector, true);
  add("label_join", {kVector, kString, kString, kString}, -1, kVector);
  add("label_replace", {kVector, kString, kString, kString, kString}, 0, kVector);
  add("max_of", {kScalar, kScalar}, 0, kScalar, true);
  add("min_of", {kScalar, kScalar}, 0, kScalar, true);
  add("pi", {}, 0, kScalar);
  add("predict_linear", {kMatrix, kScalar}, 0, kVector);
  add("quantile_over_time", {kScalar, kMatrix}, 0, kVector);
  add("range", {}, 0, kScalar, true);
  add("round", {kVector, kScalar}, 1, kVector);
  add("scalar", {kVector}, 0, kScalar);
  add("sort_by_label", {kVector, kString}, -1, kVector, true);
  add("sort_by_label_desc", {kVector, kString}, -1, kVector, true);
  add("start", {}, 0, kScalar, true);
  add("start_timestamp", {kVector}, 0, kVector, true);
  add("step", {}, 0, kScalar, true);
  add("time", {}, 0, kScalar);
  add("vector", {kScalar}, 0, kVector);
}

Functions make_functions() {
  Functions functions;
  const auto add_all = [&functions](const auto& names, ValueType argument, int variadic,
                                    bool experimental) {
    for (const std::string_view name : names) {
      functions.emplace(name, Function{name, {argument}, variadic, kVector, experimental});
    }
  };
  add_all(kOfVector, kVector, 0, false);
  add_all(kOfDate, kVector, 1, false);
  add_all(kOfMatrix, kMatrix, 0, false);
  add_all(kExperimentalOfMatrix, kMatrix, 0, true);
  add_others(functions);
  return functions;
}

}  // namespace

const Function* find_function(std::string_view name) {
  static const Functions kFunctions = make_functions();
  const auto found = kFunctions.find(name);
  return found == kFunctions.end() ? nullptr : &found->second;
}

}  // namespace halite::query::promql
