// Passwords and tokens: how they are kept so that the file that holds them gives none away.
//
// A password is kept as scrypt (RFC 7914) makes it, in the notation of the PHC string format:
//   $scrypt$ln=15,r=8,p=1$<salt>$<key>        base64 without "="; ln is log2 of scrypt's N
// A token has 256 random bits, so that its SHA-256 may be kept as it is.
//
//   Threads  any.
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

// kInvalidArgument: a zero byte in it. kInternal: the system gives no random numbers.
[[nodiscard]] Result<std::string> hash_password(std::string_view password, ScryptCost cost = {});

// kInvalidArgument: that is no such text, or one that would take over 256 MiB.
[[nodiscard]] Result<void> check_password_hash(std::string_view hash);

// Takes as long as the hash says, some 60 ms; false also for what check_password_hash() refuses.
[[nodiscard]] bool password_fits(std::string_view password, std::string_view hash);

using Digest = std::array<unsigned char, 32>;
[[nodiscard]] Digest sha256(std::string_view text);

inline constexpr std::string_view kTokenPrefix = "halite_";  // so that scanners of secrets know it
[[nodiscard]] Result<std::string> new_token();
[[nodiscard]] Result<std::string> random_bytes(std::size_t count);

}  // namespace halite::web
