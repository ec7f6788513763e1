// The accounts: users with passwords, and tokens, each with roles.
//
// The file is TOML (docs/operate/security.md):
//   [users.alice]
//   password = "$scrypt$ln=15,r=8,p=1$..."     # halite auth user
//   roles = "admin"                            # read, write, admin; separate several with commas
//   [tokens.collectd]
//   sha256 = "6fe5..."                         # halite auth token
//   roles = "write"
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_file.h"
#include "common/result.h"
#include "web/access/role.h"
#include "web/access/secret.h"

namespace halite::web {

struct Account {
  std::string name;
  Roles roles;
};

class Accounts {
 public:
  // kNotFound: the file cannot be read. kInvalidArgument gives the place and the reason; it is also
  // the error for a file that others can write, or that is not a regular file. Logs a warning if
  // all users can read it.
  static Result<Accounts> read(const std::string& path);
  static Result<Accounts> parse(std::string_view text, const std::string& path);

  // Returns nullptr for an unknown token.
  [[nodiscard]] const Account* of_token(std::string_view token) const;

  struct User {
    Account account;
    std::string password;  // hashed
  };
  [[nodiscard]] const User* user(std::string_view name) const;

  [[nodiscard]] std::size_t size() const { return users_.size() + tokens_.size(); }

 private:
  static Result<Accounts> from(const std::vector<FileSetting>& settings, const std::string& path);

  std::map<std::string, User, std::less<>> users_;
  std::map<Digest, Account> tokens_;
};

}  // namespace halite::web
