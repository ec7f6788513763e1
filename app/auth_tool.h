// `halite auth`: makes what stands in auth.file.
#pragma once

#include <string>

#include "common/result.h"

namespace halite::app {

struct NewAccount {
  std::string name;
  std::string roles;
};

// Asks for a password at the terminal, or takes standard input's first line. The user's table of
// auth.file. kInvalidArgument: no such role, a name that cannot be one, an empty password.
[[nodiscard]] Result<std::string> new_user(const NewAccount& account);

// The token, told only here, and its table of auth.file.
[[nodiscard]] Result<std::string> new_token(const NewAccount& account);

}  // namespace halite::app
