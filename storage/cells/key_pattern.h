// Translates tag filters into patterns of row keys: a fixed part, then pairs of key and value uids,
// ordered by key uid.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "storage/api/scan_hint.h"
#include "storage/catalog/tag_key_matcher.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct KeyPatternLimits {
  std::size_t values_max = 256;  // maximum of values listed for a key; with more, any value matches
  std::size_t masks_max = 64;    // with more, the pattern is a regular expression
};

// Adds the pattern of the rows. `tags_exactly`: series with exactly this many tags, the keys of the
// matchers. `few`: so few rows match that a server should seek to them instead of testing each row.
// Adds nothing if the filters do not restrict uids.
void add_row_pattern(const RowLayout& layout, std::span<const TagKeyMatcher> matchers,
                     std::optional<std::size_t> tags_exactly, bool few,
                     const KeyPatternLimits& limits, ScanHint& hint);

}  // namespace halite::storage
