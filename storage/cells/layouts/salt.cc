#include "storage/cells/layouts/salt.h"

#include <bit>
#include <cstdlib>

#include <xxhash.h>

#include "common/check.h"

namespace halite::storage {

std::int32_t opentsdb_hash(BytesView tsuid) {
  std::uint32_t hash = 1;  // unsigned, because Java's arithmetic wraps
  for (const char c : tsuid) {
    hash = 31 * hash +
           static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<signed char>(c)));
  }
  return std::bit_cast<std::int32_t>(hash);
}

std::uint32_t opentsdb_salt(BytesView tsuid, std::uint32_t buckets) {
  HALITE_CHECK(buckets >= 1, "a table has at least one salt bucket");
  // 64 bits, because |INT32_MIN| does not fit 32 bits.
  const std::int64_t hash = opentsdb_hash(tsuid);
  return static_cast<std::uint32_t>(std::llabs(hash % static_cast<std::int64_t>(buckets)));
}

void append_opentsdb_salt(Bytes& to, std::uint32_t salt, unsigned width) {
  for (unsigned left = width; left > 0; --left) {
    to.push_back(static_cast<char>(salt >> (8 * ((left - 1) % 4))));
  }
}

std::uint32_t cyclic_salt(BytesView tsuid, std::uint32_t buckets) {
  HALITE_CHECK(buckets >= 1, "a table has at least one salt bucket");
  return static_cast<std::uint32_t>(XXH3_64bits(tsuid.data(), tsuid.size()) % buckets);
}

}  // namespace halite::storage
