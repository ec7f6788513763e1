// Passwords and tokens, and their stored forms, which do not reveal them.
//
// A password is stored as scrypt output (RFC 7914) in the PHC string format:
//   $scrypt$ln=15,r=8,p=1$<salt>$<key>        base64 without "="; ln is log2 of scrypt's N
// A token has 256 random bits, so a plain SHA-256 of it is safe to store.
//
//   Threads  call from any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

struct ScryptCost {
  unsigned log2_n = 15;  // memory is 128 * r * 2^log2_n bytes: 32 MiB
  unsigned r = 8;
  unsigned p = 1;
};

// kInvalidArgument: it contains a zero byte. kInternal: the system provides no random numbers.
[[nodiscard]] Result<std::string> hash_password(std::string_view password, ScryptCost cost = {});

// kInvalidArgument: not in this format, or it would need over 256 MiB of memory.
[[nodiscard]] Result<void> check_password_hash(std::string_view hash);

// The hash sets the duration, about 60 ms. False also for hashes that check_password_hash()
// refuses.
[[nodiscard]] bool password_fits(std::string_view password, std::string_view hash);

using Digest = std::array<unsigned char, 32>;
[[nodiscard]] Digest sha256(std::string_view text);

inline constexpr std::string_view kTokenPrefix = "halite_";  // lets secret scanners recognise it
[[nodiscard]] Result<std::string> new_token();
[[nodiscard]] Result<std::string> random_bytes(std::size_t count);

}  // namespace halite::web
