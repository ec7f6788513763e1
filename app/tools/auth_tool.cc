#include "app/tools/auth_tool.h"

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "web/access/role.h"
#include "web/access/secret.h"

namespace halite::app {
namespace {

// Hides the input at a terminal while it lives.
class Unseen {
 public:
  Unseen() : terminal_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (terminal_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~Unseen() {
    if (terminal_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

  [[nodiscard]] bool terminal() const { return terminal_; }

 private:
  termios before_ = {};
  bool terminal_;
};

Result<std::string> ask_password() {
  const Unseen unseen;
  if (unseen.terminal()) fmt::print(stderr, "Password: ");
  std::string password;
  std::getline(std::cin, password);
  if (unseen.terminal()) fmt::print(stderr, "\n");
  if (password.empty()) return fail(Errc::kInvalidArgument, "a password cannot be empty");
  return password;
}

Result<void> check(const NewAccount& account) {
  const auto plain = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; };
  if (account.name.empty() || !std::ranges::all_of(account.name, plain)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("bad name \"{}\": use letters, digits, - and _", account.name));
  }
  TRY(const web::Roles roles, web::parse_roles(account.roles));
  if (roles.empty()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("--roles {}: the account could do nothing; name one or more of read, "
                            "write and admin",
                            account.roles));
  }
  return {};
}

}  // namespace

Result<std::string> new_user(const NewAccount& account) {
  TRY_VOID(check(account));
  TRY(const std::string password, ask_password());
  TRY(const std::string hash, web::hash_password(password));
  return fmt::format("[users.{}]\npassword = \"{}\"\nroles = \"{}\"\n", account.name, hash,
                     account.roles);
}

Result<std::string> new_token(const NewAccount& account) {
  TRY_VOID(check(account));
  TRY(const std::string token, web::new_token());
  std::string digest;
  for (const unsigned char byte : web::sha256(token)) digest += fmt::format("{:02x}", byte);
  return fmt::format("# {}\n[tokens.{}]\nsha256 = \"{}\"\nroles = \"{}\"\n", token, account.name,
                     digest, account.roles);
}

}  // namespace halite::app
