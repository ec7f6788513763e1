// Settings of who may do what: their names in the config, their units, their defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace halite::web {

struct AccessOptions {
  std::string file;                        // auth.file: users and tokens (accounts.h); empty = none
  std::string anonymous = "auto";          // auth.anonymous: roles of who does not say who they are
  std::uint32_t failures_max = 20;         // auth.failures_max: of one address within
  std::int64_t failures_ms = 60'000;       // auth.failures_ms; then it has to wait
  std::size_t addresses_max = 10'000;      // auth.addresses_max: whose failures are counted
  std::size_t passwords_waiting_max = 64;  // auth.passwords_waiting_max: to be looked at
  std::size_t logins_kept_max = 1024;      // auth.logins_kept_max: passwords that fitted, kept as
  std::int64_t logins_kept_ms = 300'000;   // auth.logins_kept_ms: keyed digests, for so long
  std::int64_t reload_ms = 1'000;          // auth.reload_ms: how often the file is looked at
};

}  // namespace halite::web
