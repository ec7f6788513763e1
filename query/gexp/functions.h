// The functions of /api/query/gexp. Each takes series and texts and returns series.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "query/answer.h"

namespace halite::query {

using SeriesList = std::vector<AnswerSeries>;

// `arguments` are the series of each sub-query or nested call, `parameters` the other arguments.
// kInvalidArgument, with OpenTSDB's message: a parameter is missing or wrong, or series do not
// match.
using GexpFunction = Result<SeriesList> (*)(std::vector<SeriesList> arguments,
                                            std::span<const std::string> parameters);

[[nodiscard]] bool is_gexp_function(std::string_view name);

// Null if the function does not exist.
[[nodiscard]] GexpFunction find_gexp_function(std::string_view name);

// arithmetic.cc: sums, differences, products and quotients of 2 to 26 arguments. Joins series with
// equal tags; a series without a counterpart is joined with zeros.
Result<SeriesList> gexp_sum(std::vector<SeriesList>, std::span<const std::string>);
Result<SeriesList> gexp_difference(std::vector<SeriesList>, std::span<const std::string>);
Result<SeriesList> gexp_multiply(std::vector<SeriesList>, std::span<const std::string>);
Result<SeriesList> gexp_divide(std::vector<SeriesList>, std::span<const std::string>);

// window.cc: shift(q,'5min') moves points to later times. movingAverage(q,5) and
// movingAverage(q,'10min') return 0 until the window is full.
Result<SeriesList> gexp_shift(std::vector<SeriesList>, std::span<const std::string>);
Result<SeriesList> gexp_moving_average(std::vector<SeriesList>, std::span<const std::string>);

// Concatenates the series of all arguments.
[[nodiscard]] SeriesList flatten(std::vector<SeriesList> arguments);

}  // namespace halite::query
