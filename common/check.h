// HALITE_CHECK(condition, "why"): an internal invariant, checked in every build. A violation stops
// the process at once, because continuing could lose or invent points. No input can cause one.
#pragma once

#include <string_view>

namespace halite {

[[noreturn]] void check_failed(const char* condition, std::string_view why, const char* file,
                               int line);

}  // namespace halite

#define HALITE_CHECK(condition, why)                               \
  do {                                                             \
    if (!(condition)) [[unlikely]]                                 \
      ::halite::check_failed(#condition, why, __FILE__, __LINE__); \
  } while (false)
