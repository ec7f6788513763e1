// Who calls, and what they may do.
//
//   Anonymous  who says nothing has the roles of auth.anonymous. "auto" is all where there is no
//              auth.file, else none. Listening to others than this machine wants it said: start().
//   File       read again when it changes, by a thread of its own: no caller waits for a disk. One
//              that is wrong is logged and the old one stays.
//   Passwords  checked one at a time on a thread of its own, as that takes long on purpose; those
//              that fitted are known for a while by a keyed digest.
//   Threads    any.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/task.h"
#include "web/access/accounts.h"
#include "web/access/authorization.h"
#include "web/access/options.h"

namespace halite::web {

// What those may do who do not say who they are. kInvalidArgument: auth.anonymous is wrong, or
// others than this machine could come in, of whom nothing is said.
[[nodiscard]] Result<Roles> anonymous_roles(const AccessOptions& options, bool loopback);

// What auth.file says. kInvalidArgument: it is wrong.
[[nodiscard]] Result<Accounts> read_accounts(const std::string& auth_file);

// The anonymous one has no name.
using Caller = Account;

class AccessControl {
 public:
  // Clock and registry outlive it.
  AccessControl(AccessOptions options, const Clock& clock, prometheus::Registry& registry);
  ~AccessControl();
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // Reads the file. `loopback`: only this machine can reach the server. kInvalidArgument: the file
  // is wrong; errors of anonymous_roles().
  [[nodiscard]] Result<void> start(bool loopback);

  [[nodiscard]] Caller anonymous() const;

  // kUnauthenticated: not known. kOverloaded: it is not known, and the address has failed too
  // often, or too many are being checked; try after so many seconds as the error's details say.
  Task<Caller> caller(Login login, std::string address);

  // Another number when the file has changed: who came before may be somebody else now.
  [[nodiscard]] std::uint64_t version();

 private:
  Result<Caller> with_token(std::string_view token, const std::string& address);
  Task<Caller> with_password(PasswordLogin login, std::string address);

  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace halite::web
