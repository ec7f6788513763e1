// `halite auth`: creates entries for auth.file.
#pragma once

#include <string>

#include "common/result.h"

namespace halite::app {

struct NewAccount {
  std::string name;
  std::string roles;
};

// Reads a password from the terminal or from the first line of standard input. Returns the user's
// table for auth.file. kInvalidArgument: no role or an unknown one, an invalid name, or an empty
// password.
[[nodiscard]] Result<std::string> new_user(const NewAccount& account);

// Returns the token, which is shown only here, and its table for auth.file.
[[nodiscard]] Result<std::string> new_token(const NewAccount& account);

}  // namespace halite::app
