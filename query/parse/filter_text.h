// Parses tag filters: a map's value ("*", "web*", "a|b", "regexp(^l.*)"), a typed filter of a JSON
// body, and the braces after a metric.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "query/question.h"

namespace halite::query {

// Makes a filter of the named type. Its regular expression is one of the request's.
[[nodiscard]] Result<Filter> make_filter(std::string_view type, std::string_view key,
                                         std::string_view pattern, bool group_by,
                                         const storage::Regexps& regexps);

// Makes a filter from a tag map's value: "type(pattern)", a pattern with stars, or literals.
[[nodiscard]] Result<Filter> filter_from_value(std::string_view key, std::string_view value,
                                               bool group_by, const storage::Regexps& regexps);

// The name of the filter's type in an answer: "literal_or", ...
[[nodiscard]] std::string_view shown_type(const Filter& filter);

// Adds a grouping filter. If `filters` contains it, that one becomes a grouping filter instead.
void add_group_by(Filter filter, std::vector<Filter>& filters);

struct MetricAndFilters {
  std::string metric;
  std::vector<Filter> filters;  // of the second braces, then of the first
};

// Parses "metric", "metric{tag=value,...}" or "metric{group by}{filters only}". Errors are
// kInternal (400; 500 with --opentsdb-conf), except for a bad regular expression (kInvalidArgument,
// kTooLarge).
[[nodiscard]] Result<MetricAndFilters> parse_metric(std::string_view text,
                                                    const storage::Regexps& regexps);

}  // namespace halite::query
