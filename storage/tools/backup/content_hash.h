// XXH3-128 of bytes, as 32 lower-case hexadecimal digits.
#pragma once

#include <memory>
#include <string>

#include "common/bytes/bytes.h"

namespace halite::storage::backup {

// Hashes content in pieces. Not thread-safe.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  void add(BytesView bytes);
  [[nodiscard]] std::string text() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

[[nodiscard]] std::string hash_of(BytesView bytes);

}  // namespace halite::storage::backup
