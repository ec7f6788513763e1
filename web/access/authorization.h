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

// A token in place of the password counts as a token, with any name.
[[nodiscard]] Login password_login(std::string_view user, std::string_view password);

// Bearer TOKEN; Token TOKEN or Token NAME:PASSWORD, as clients of InfluxDB 2 send them; Basic with
// base64 of NAME:PASSWORD. kUnauthenticated: none of them.
[[nodiscard]] Result<Login> parse_authorization(std::string_view header);

}  // namespace halite::web
