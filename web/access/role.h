// The permissions of a caller.
//
//   read   query; see names, series, metrics and the page
//   write  send points, annotations and names
//   admin  all of these; delete points, flush, check, back up, see the log, stop queries of others
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"

namespace halite::web {

enum class Role : std::uint8_t { kNone = 0, kRead = 1, kWrite = 2, kAdmin = 4 };

class Roles {
 public:
  constexpr Roles() = default;
  [[nodiscard]] static constexpr Roles all() { return Roles().with(Role::kAdmin); }
  [[nodiscard]] constexpr Roles with(Role role) const {
    Roles more = *this;
    more.bits_ |= static_cast<std::uint8_t>(role);
    return more;
  }
  [[nodiscard]] constexpr bool may(Role role) const {
    const auto wanted = static_cast<std::uint8_t>(role);
    return (bits_ & (wanted | static_cast<std::uint8_t>(Role::kAdmin))) != 0 || wanted == 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  bool operator==(const Roles&) const = default;

 private:
  std::uint8_t bits_ = 0;
};

[[nodiscard]] std::string_view role_name(Role role);

// Parses "read,write"; "none" is no role. kInvalidArgument: any other word, or an empty text.
[[nodiscard]] Result<Roles> parse_roles(std::string_view text);

}  // namespace halite::web
