// The exact bytes that a sender wrote for metric and tags.
#pragma once

#include <cstdint>
#include <string_view>

namespace halite::ingest {

// The grammar of a key's bytes. Equal bytes of two grammars are two keys.
enum class KeyGrammar : std::uint8_t {
  kPutLine,  // tags: k=v k=v
  kJson,     // tags: {"k":"v","k":"v"}
  kNames,    // the names of the series instead of a sender's bytes, for uncommon forms of points:
             // each key and each value ends with a zero byte
};

struct SeriesKey {
  KeyGrammar grammar = KeyGrammar::kPutLine;
  std::string_view metric;
  std::string_view tags;
};

}  // namespace halite::ingest
