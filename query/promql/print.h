// Writes expressions of PromQL.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// Whether a label's name needs no quotes.
[[nodiscard]] bool is_plain_label(std::string_view name);
// The same for a metric, which may also contain colons.
[[nodiscard]] bool is_plain_metric(std::string_view name);

// In one line, as Prometheus does: sum by (a) (rate(m{b="c"}[5m])).
[[nodiscard]] std::string print(const Expr& expr);

// Over several lines where a line would be longer than 100 characters (/api/v1/format_query).
// kTooLarge: they have more than four megabytes, as a long chain of operators has.
[[nodiscard]] Result<std::string> pretty(const Expr& expr);

// As JSON (/api/v1/parse_query).
[[nodiscard]] std::string tree_json(const Expr& expr);

}  // namespace halite::query::promql
