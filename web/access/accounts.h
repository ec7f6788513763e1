// Who is known here: users with passwords, and tokens, each with roles.
//
// The file is TOML (docs/operate/security.md):
//   [users.alice]
//   password = "$scrypt$ln=15,r=8,p=1$..."     # halite auth user
//   roles = "admin"                            # read, write, admin; several with a comma
//   [tokens.collectd]
//   sha256 = "6fe5..."                         # halite auth token
//   roles = "write"
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/config_file.h"
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
  // kNotFound: it cannot be read. kInvalidArgument says where and what is wrong; also of a file
  // that others may write, or that is no regular one. Logs a warning of one that all may read.
  static Result<Accounts> read(const std::string& path);
  static Result<Accounts> parse(std::string_view text, const std::string& path);

  // nullptr: no such token.
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
