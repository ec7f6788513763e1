// The settings of access control: names in the config, units, defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace halite::web {

struct AccessOptions {
  std::string file;                        // auth.file: users and tokens (accounts.h); empty = none
  std::string anonymous = "auto";          // auth.anonymous: roles without credentials
  std::uint32_t failures_max = 20;         // auth.failures_max: for each address, within
  std::int64_t failures_ms = 60'000;       // auth.failures_ms; then it must wait
  std::size_t addresses_max = 10'000;      // auth.addresses_max: addresses with counted failures
  std::size_t passwords_waiting_max = 64;  // auth.passwords_waiting_max: queued checks
  std::size_t logins_kept_max = 1024;      // auth.logins_kept_max: correct passwords, kept as
  std::int64_t logins_kept_ms = 300'000;   // auth.logins_kept_ms: keyed digests, for so long
  std::int64_t reload_ms = 1'000;          // auth.reload_ms: how often the file is checked
};

}  // namespace halite::web
