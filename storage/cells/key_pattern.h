// Tag filters as what row keys look like: a fixed part, then pairs of key and value ids in the
// order of the keys.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "storage/api/scan_hint.h"
#include "storage/catalog/tag_key_matcher.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct KeyPatternLimits {
  std::size_t values_max = 256;  // of one key that are named; with more, any will do
  std::size_t masks_max = 64;    // else it is told as a regular expression
};

// Adds the rows' part. `tags_exactly`: series with this many tags, the keys of the conditions.
// `few`: of so many rows few are wanted that a server had better jump to them than look at each.
// Nothing is added where the filters say nothing about ids.
void add_row_pattern(const RowLayout& layout, std::span<const TagKeyMatcher> matchers,
                     std::optional<std::size_t> tags_exactly, bool few,
                     const KeyPatternLimits& limits, ScanHint& hint);

}  // namespace halite::storage
