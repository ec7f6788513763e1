// The body of /api/query/exp as plain data, checked as in OpenTSDB.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "query/expression/join.h"
#include "query/expression/tree.h"
#include "query/parse/parse_context.h"
#include "query/question.h"

namespace halite::query {

// The replacement for a missing value.
struct NumericFill {
  FillPolicy policy = FillPolicy::kZero;
  double value = 0;  // NaN for kNan, kNull and kNone
};

struct ExpTime {
  std::string start;
  std::string end;       // empty = now
  std::string timezone;  // empty = the server's
  std::string aggregator;
  struct Downsampler {
    std::string interval;
    std::string aggregator;
    std::optional<NumericFill> fill;  // echoed, not used (as in OpenTSDB)
  };
  std::optional<Downsampler> downsampler;
  bool rate = false;
};

struct ExpFilter {
  std::string id;
  std::vector<Filter> tags;
  bool explicit_tags = false;
};

struct ExpMetric {
  std::string id;
  std::string metric;
  std::string filter;       // an ExpFilter's id; empty = none
  std::string aggregator;   // empty = ExpTime's aggregator
  std::string time_offset;  // echoed, not used (as in OpenTSDB)
  std::optional<NumericFill> fill;
  std::size_t query = 0;  // index into ExpQuestion::question.queries
};

struct ExpExpression {
  std::string id;
  std::string text;
  Expression expression;
  JoinSpec join;
  std::optional<NumericFill> fill;  // applies where another expression uses this one
};

struct ExpOutput {
  std::string id;
  std::string alias;  // empty = none
};

struct ExpQuestion {
  std::string name;
  ExpTime time;
  std::optional<std::vector<ExpFilter>> filters;
  std::vector<ExpMetric> metrics;
  std::optional<std::vector<ExpExpression>> expressions;
  std::optional<std::vector<ExpOutput>> outputs;  // none or empty: all expressions, or all metrics
  Question question;                              // reads the metrics; whole_scan and with_ids set
};

struct ExpLimits {
  std::size_t expressions_max = 256;
  ExpressionLimits expression;
};

// Errors are Errc::kInternal where OpenTSDB answers 500, which it does for all invalid bodies.
// kTooLarge: above a limit.
[[nodiscard]] Result<ExpQuestion> parse_exp_question(std::string_view body,
                                                     const ParseContext& context,
                                                     const ExpLimits& limits);

}  // namespace halite::query
