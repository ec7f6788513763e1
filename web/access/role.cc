#include "web/access/role.h"

#include <array>

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite::web {
namespace {

constexpr std::array kRoles = {Role::kNone, Role::kRead, Role::kWrite, Role::kAdmin};

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
    case Role::kAdmin:
      return "admin";
    case Role::kNone:
      break;
  }
  return "none";
}

Result<Roles> parse_roles(std::string_view text) {
  if (trim(text, " ").empty()) {
    return fail(Errc::kInvalidArgument,
                "the roles are empty; the roles are read, write, admin and none");
  }
  Roles roles;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = trim(text.substr(0, comma), " ");
    bool known = false;
    for (const Role role : kRoles) {
      if (word != role_name(role)) continue;
      roles = roles.with(role);
      known = true;
    }
    if (!known) {
      return fail(
          Errc::kInvalidArgument,
          fmt::format("unknown role \"{}\"; the roles are read, write, admin and none", word));
    }
    if (comma == std::string_view::npos) return roles;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace halite::web
