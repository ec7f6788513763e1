// Describes the keys that a scan selects, for stores with remote rows.
//
// Every selected key fits the hint; a key that fits need not be selected. Local stores ignore
// hints.
#pragma once

#include <string>
#include <vector>

#include "common/bytes/bytes.h"

namespace halite::storage {

// Keys that equal `key` except where the byte of `any` is not 0. Both have equal lengths.
struct KeyMask {
  Bytes key;
  Bytes any;
};

struct ScanHint {
  // Selected keys fit one of these. None = see `row_regex`. Servers seek from match to match.
  std::vector<KeyMask> row_masks;
  // Selected keys match this regular expression over bytes, in the common syntax of RE2 and Java.
  // Empty = not known. Servers test every row, but send only matching rows.
  std::string row_regex;
};

}  // namespace halite::storage
