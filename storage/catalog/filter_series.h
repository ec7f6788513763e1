// Finds the series of a metric that match, through the inverted index where that is faster than
// testing each series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/result.h"
#include "common/threads/work_budget.h"
#include "storage/catalog/series_table.h"
#include "storage/catalog/tag_key_matcher.h"

namespace halite::storage {

struct TagsWanted {
  std::span<const TagKeyMatcher> matchers;
  std::optional<std::size_t> tags_exactly;  // required number of tags; nullopt = any

  [[nodiscard]] bool matches(const Series& series) const;
};

// The series of a metric at positions from begin to before end.
struct MembersOf {
  std::uint64_t metric_uid = 0;
  std::size_t begin = 0;
  std::size_t end = 0;  // at most the number of series
};

// Their ids, in the metric's order. Returns the budget's errors; the budget may be null.
[[nodiscard]] Result<std::vector<SeriesId>> filter_series(const SeriesTable& table,
                                                          const MembersOf& members,
                                                          const TagsWanted& wanted,
                                                          const WorkBudget* budget);

}  // namespace halite::storage
