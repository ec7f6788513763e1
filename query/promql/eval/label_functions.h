// Functions that change labels or the order of elements, not values.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/result.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

// label_replace(v, "target", "replacement", "source", "regexp"). Rows with equal labels are not
// merged yet: see merge.h. kInvalidArgument: Prometheus' message.
[[nodiscard]] Result<void> label_replace(Vector& vector, std::string_view target,
                                         std::string_view replacement, std::string_view source,
                                         std::string_view regexp, std::size_t regexp_bytes_max,
                                         TextArena& texts);

[[nodiscard]] Result<void> label_join(Vector& vector, std::string_view target,
                                      std::string_view separator,
                                      std::span<const std::string_view> sources, TextArena& texts);

// sort(), sort_desc(): by the value of the first step, NaN last.
void sort_by_value(Vector& vector, bool descending);
// sort_by_label(): natural order of these labels, then all labels.
void sort_by_label(Vector& vector, std::span<const std::string_view> names, bool descending);

}  // namespace halite::query::promql
