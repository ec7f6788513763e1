// Which salt bucket a series belongs to. One series is always in one bucket; the series of a metric
// spread over all of them.
#pragma once

#include <cstdint>

#include "common/bytes.h"

namespace halite::storage {

// OpenTSDB's salt, exactly: Java's Arrays.hashCode over the tsuid's signed bytes in wrapping 32-bit
// arithmetic, the remainder with the dividend's sign, then its absolute value. buckets >= 1.
[[nodiscard]] std::uint32_t opentsdb_salt(BytesView tsuid, std::uint32_t buckets);

// The bytes of that salt at the front of a row, `width` 0 to 8, as Java's `salt >>> shift` yields
// them: the low bytes of a narrow width, and behind four bytes all over again, since Java shifts by
// the shift modulo 32.
void append_opentsdb_salt(Bytes& to, std::uint32_t salt, unsigned width);

// The same hash before the remainder.
[[nodiscard]] std::int32_t opentsdb_hash(BytesView tsuid);

// Ours: XXH3-64 of the tsuid, modulo buckets. buckets >= 1.
[[nodiscard]] std::uint32_t cyclic_salt(BytesView tsuid, std::uint32_t buckets);

}  // namespace halite::storage
