#include "storage/tools/backup/content_hash.h"

#include <fmt/format.h>
#define XXH_STATIC_LINKING_ONLY  // makes the state a member, without an allocation that may fail
#include <xxhash.h>

#include "common/check.h"

namespace halite::storage::backup {

struct ContentHash::State {
  XXH3_state_t xxh3;
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {
  HALITE_CHECK(XXH3_128bits_reset(&state_->xxh3) == XXH_OK, "a hash does not begin");
}

ContentHash::~ContentHash() = default;

void ContentHash::add(BytesView bytes) {
  HALITE_CHECK(XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size()) == XXH_OK,
               "a hash takes no bytes");
}

std::string ContentHash::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh3);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string hash_of(BytesView bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.text();
}

}  // namespace halite::storage::backup
