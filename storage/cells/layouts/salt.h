// Computes the salt of a series. It never changes, and spreads the series of a metric evenly.
#pragma once

#include <cstdint>

#include "common/bytes/bytes.h"

namespace halite::storage {

// OpenTSDB's salt: Java's Arrays.hashCode of the tsuid's signed bytes in wrapping 32-bit
// arithmetic, the remainder with the sign of the dividend, then its absolute value. buckets >= 1.
[[nodiscard]] std::uint32_t opentsdb_salt(BytesView tsuid, std::uint32_t buckets);

// Appends that salt, `width` 0 to 8, with the bytes of Java's `salt >>> shift`: the low bytes of a
// narrow width; beyond four bytes they repeat, because Java shifts modulo 32.
void append_opentsdb_salt(Bytes& to, std::uint32_t salt, unsigned width);

// The hash before the remainder.
[[nodiscard]] std::int32_t opentsdb_hash(BytesView tsuid);

// The cyclic layout's salt: XXH3-64 of the tsuid, modulo buckets. buckets >= 1.
[[nodiscard]] std::uint32_t cyclic_salt(BytesView tsuid, std::uint32_t buckets);

}  // namespace halite::storage
