// Functions over range vectors with anchored or smoothed, and selectors with smoothed.
#pragma once

#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "query/promql/eval/range_functions.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// What extends windows in place of the function `name`. Its windows also have the samples before
// and, if smoothed, behind the range that are not older or newer than the lookback.
// kInvalidArgument: the function does not take such a range.
[[nodiscard]] Result<const RangeFunction*> find_extended_function(std::string_view name,
                                                                  Extension extension);

// The value of a smoothed instant selector at the end of the window: that of a sample, on the line
// between two, or of the newest.
[[nodiscard]] const RangeFunction& smoothed_selector();

// The samples of a range that is extended, with one at each of its ends.
struct ExtendedSamples {
  std::vector<TimestampMs> times;
  std::vector<double> values;
};
// `window` has at least one sample.
[[nodiscard]] ExtendedSamples extended_samples(const Window& window, Extension extension);

}  // namespace halite::query::promql
