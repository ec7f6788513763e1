#include "common/result.h"

#include <array>
#include <cstddef>

namespace halite {

std::string_view errc_name(Errc code) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"not found", "invalid argument", "too large", "conflict", "unavailable", "timeout",
       "overloaded", "corruption", "unsupported", "cancelled", "unauthenticated", "forbidden",
       "internal"});
  static_assert(kNames.size() == static_cast<std::size_t>(Errc::kInternal) + 1);
  return kNames[static_cast<std::size_t>(code)];
}

}  // namespace halite
