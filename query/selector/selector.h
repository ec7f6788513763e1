// Selectors of series as in PromQL: up{job="a",dc!~"x.*"}, {__name__=~"a|b"}, {"sys.cpu",host="a"}.
//
// All matchers of a selector must accept a series; a label may have several. At least one must not
// accept the empty value, so that no selector names all series by accident: {__name__!=""} does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "query/selector/label_matcher.h"
#include "storage/api/series.h"
#include "storage/api/tag_filter.h"

namespace halite::query {

struct Selector {
  std::vector<LabelMatcher> matchers;

  // The one metric whose series it names, if a matcher says it.
  [[nodiscard]] const std::string* metric() const;
  [[nodiscard]] bool matches_metric(std::string_view metric) const;
  // Whether the tags match; the metric is not compared.
  [[nodiscard]] bool matches_tags(const storage::SeriesTags& tags) const;
  // Filters that all matching series pass: a store finds these by its index.
  [[nodiscard]] std::vector<storage::TagFilter> tag_filters() const;
  // Whether only matching series pass the filters.
  [[nodiscard]] bool filters_are_exact() const;
};

struct SelectorLimits {
  std::size_t bytes_max = 4096;  // of the text
  storage::Regexps regexps = storage::Regexps();
};

// kInvalidArgument: what is wrong and where, "byte 3: ...". kTooLarge: a limit.
[[nodiscard]] Result<Selector> parse_selector(std::string_view text, const SelectorLimits& limits);

}  // namespace halite::query
