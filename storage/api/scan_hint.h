// What the keys of the wanted rows of a scan look like, told to a store whose rows are elsewhere.
//
// A hint refuses nothing that is wanted; what it lets through is not wanted for that. A store on
// this machine looks away.
#pragma once

#include <string>
#include <vector>

#include "common/bytes.h"

namespace halite::storage {

// Keys that begin with `key`, but for the places where `any` is not 0. Both have the same length.
struct KeyMask {
  Bytes key;
  Bytes any;
};

struct ScanHint {
  // Wanted keys fit one of these; none = `row_regex` tells, if anything does. Servers jump from fit
  // to fit.
  std::vector<KeyMask> row_masks;
  // Wanted keys match it: a regular expression over bytes in what RE2 and Java have in common.
  // Empty = not known. Servers look at every row, but send none in vain.
  std::string row_regex;
};

}  // namespace halite::storage
