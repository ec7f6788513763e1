// HALITE_CHECK(condition, "why"): a promise of ours, checked in every build. A broken one stops the
// process at once, since going on could lose or invent points. Input never reaches one.
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
