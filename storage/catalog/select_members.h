// Which series of a metric have the tags that are wanted: from the index where that is quicker than
// looking at each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/result.h"
#include "common/work_budget.h"
#include "storage/catalog/series_table.h"
#include "storage/catalog/tag_key_matcher.h"

namespace halite::storage {

struct TagsWanted {
  std::span<const TagKeyMatcher> matchers;
  std::optional<std::size_t> tags_exactly;  // how many tags a series has, if that matters

  [[nodiscard]] bool matches(const Series& series) const;
};

// Of a metric's series, those from the begin-th to before the end-th.
struct MembersOf {
  std::uint64_t metric_uid = 0;
  std::size_t begin = 0;
  std::size_t end = 0;  // no more than there are
};

// Their ids, as they stand in the metric. The watch's errors; it may be null.
[[nodiscard]] Result<std::vector<SeriesId>> select_members(const SeriesTable& table,
                                                           const MembersOf& members,
                                                           const TagsWanted& wanted,
                                                           const WorkBudget* budget);

}  // namespace halite::storage
