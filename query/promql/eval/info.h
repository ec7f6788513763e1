// info(): adds the labels of info series, such as target_info, to series with the same `instance`
// and `job`.
#pragma once

#include <optional>
#include <vector>

#include "common/result.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"
#include "query/query_budget.h"
#include "query/selector/selector.h"

namespace halite::query::promql {

// The second argument of info(), taken apart.
struct InfoMatchers {
  std::vector<LabelMatcher> names;   // of the metrics that are info: all match
  std::vector<LabelMatcher> labels;  // which labels are added; none: all
};

// Null: info() has one argument.
[[nodiscard]] Result<InfoMatchers> info_matchers(const VectorSelector* argument);

// The info series that may belong to rows of `base`. None: no row can have any.
[[nodiscard]] Result<std::optional<Selector>> info_selector(const Vector& base,
                                                            const InfoMatchers& matchers);

// Rows of `base` with the labels of their info rows. Values of `info` are the times of its samples
// in seconds: the newest one of each metric counts. A row whose labels change with the steps
// becomes several. The budget counts the new rows.
// kInvalidArgument: info rows of one metric and one time, or of two metrics with different values
// of a label.
[[nodiscard]] Result<Vector> join_info(Vector base, std::vector<Row> info,
                                       const InfoMatchers& matchers, QueryBudget& budget);

}  // namespace halite::query::promql
