// Parses PromQL and checks its types. The language is that of Prometheus 3.14: docs/query/promql.md
//
//   Errors  kInvalidArgument: "1:5: parse error: unexpected identifier \"n\"", Prometheus' message.
//           kTooLarge: a limit; the message names the setting.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "query/promql/tree.h"
#include "query/selector/selector.h"

namespace halite::query::promql {

struct ParseOptions {
  std::size_t bytes_max = 1 << 16;                // query.promql_bytes_max: of the text
  std::size_t depth_max = 200;                    // query.promql_depth_max: nesting
  storage::Regexps regexps = storage::Regexps();  // of the request
  bool experimental = false;                      // query.promql_experimental
};

[[nodiscard]] Result<ExprPtr> parse(std::string_view text, const ParseOptions& options);

// A selector of series alone, as in match[]: up{job="a"}. Offsets and @ are refused.
[[nodiscard]] Result<Selector> parse_series_selector(std::string_view text,
                                                     const ParseOptions& options);

// Computes the durations that are expressions. `range_ms` is from the first to the last time of the
// query, `step_ms` 0 if it is no range query. kInvalidArgument: "S:E: duration must be ...".
[[nodiscard]] Result<void> resolve_durations(Expr& expr, std::int64_t step_ms,
                                             std::int64_t range_ms);

// "1:5": line and column of a byte, from 1, as Prometheus writes them.
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t at);

}  // namespace halite::query::promql
