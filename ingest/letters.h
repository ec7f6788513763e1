// Java's Character.isLetter for one UTF-16 unit, as of Unicode 13 (Java 17): names may hold any.
#pragma once

#include <span>

namespace halite::ingest {

struct LetterRange {
  char16_t first;
  char16_t last;  // included
};

// In order, none touching the next; without ASCII.
[[nodiscard]] std::span<const LetterRange> letter_ranges();

}  // namespace halite::ingest
