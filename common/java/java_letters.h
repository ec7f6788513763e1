// Java's Character.isLetter for one UTF-16 unit, as of Unicode 13 (Java 17). Names may contain any
// letter.
#pragma once

#include <span>

namespace halite {

struct LetterRange {
  char16_t first;
  char16_t last;  // inclusive
};

// Sorted ranges with gaps between them, without ASCII.
[[nodiscard]] std::span<const LetterRange> letter_ranges();

}  // namespace halite
