// Authentication of callers, and their roles.
//
//   Anonymous  callers without credentials have the roles of auth.anonymous. "auto" means all roles
//              without auth.file, and none with it. A server that other machines can reach needs an
//              explicit choice: see start().
//   File       a separate thread reads it again when it changes, so no caller waits for a disk. An
//              invalid file is logged, and the previous accounts stay in use.
//   Passwords  checked one at a time on a separate thread, because a check is slow by design. A
//              keyed digest of a correct password is kept for a while.
//   Threads    call from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/threads/task.h"
#include "web/access/accounts.h"
#include "web/access/authorization.h"
#include "web/access/options.h"

namespace halite::web {

// The roles of callers without credentials. kInvalidArgument: auth.anonymous is invalid, or other
// machines could connect and no setting covers them.
[[nodiscard]] Result<Roles> anonymous_roles(const AccessOptions& options, bool loopback);

// The accounts in auth.file. kInvalidArgument: the file is invalid.
[[nodiscard]] Result<Accounts> read_accounts(const std::string& auth_file);

// An anonymous caller has no name.
using Caller = Account;

class AccessControl {
 public:
  // Clock and registry outlive this object.
  AccessControl(AccessOptions options, const Clock& clock, prometheus::Registry& registry);
  ~AccessControl();
  AccessControl(const AccessControl&) = delete;

  // Reads the file. `loopback`: only this machine can reach the server. kInvalidArgument: the file
  // is invalid; also the errors of anonymous_roles().
  [[nodiscard]] Result<void> start(bool loopback);

  [[nodiscard]] Caller anonymous() const;

  // kUnauthenticated: unknown credentials. kOverloaded: too many failures from this address, or too
  // many checks in progress; the error's details give the seconds to wait.
  Task<Caller> caller(Login login, std::string address);

  // Changes when the file changes: known callers may then have other roles.
  [[nodiscard]] std::uint64_t version();

 private:
  Result<Caller> with_token(std::string_view token, const std::string& address);
  Task<Caller> with_password(PasswordLogin login, std::string address);

  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace halite::web
