// The credentials of a request: the Authorization header (RFC 9110, 11.6; RFC 6750, 7617).
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "common/result.h"

namespace halite::web {

struct TokenLogin {
  std::string token;
};
struct PasswordLogin {
  std::string user;
  std::string password;
};
using Login = std::variant<TokenLogin, PasswordLogin>;

// Bearer TOKEN, or Basic with base64 of NAME:PASSWORD. A token in place of the password counts as a
// token, with any name. kUnauthenticated: neither.
[[nodiscard]] Result<Login> parse_authorization(std::string_view header);

}  // namespace halite::web
