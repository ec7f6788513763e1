// What the engine keeps in RocksDB beside chunks: keys, marks, slots that are not sealed. The first
// byte tells how many of the others are the key; the rest is its value.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"
#include "storage/tsdb/chunk_db/tables/chunk_state.h"

namespace halite::storage::engine {
namespace {

void check_key(BytesView key) {
  constexpr UidWidths kWidths;
  const auto parsed = parse_key(kWidths, key);
  if (!parsed) return;
  Bytes again = series_prefix(parsed->shard_slot, kWidths, tsuid_of(kWidths, parsed->series));
  append_cell_key(again, parsed->cell);
  HALITE_CHECK(again == key, "a key is made of what it says");
}

void check_state(BytesView key, BytesView value) {
  if (const auto slot = parse_unsealed(key, value)) {
    const auto again = parse_unsealed(unsealed_key(slot->first), unsealed_bytes(slot->second));
    HALITE_CHECK(again && *again == *slot, "a slot comes back");
  }
  if (const auto mark = parse_mark(value)) {
    HALITE_CHECK(mark_bytes(*mark) == value, "a mark comes back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const BytesView bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t key_bytes = std::min<std::size_t>(data[0], bytes.size());
  check_key(bytes.substr(0, key_bytes));
  check_state(bytes.substr(0, key_bytes), bytes.substr(key_bytes));
  return 0;
}

}  // namespace halite::storage::engine
