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

  // Those of text formats (ingest/formats), as they are in a line.
  kInflux,      // metric: the field's key; tags: measurement,k=v,k=v. With the mapping below
  kExposition,  // tags: k="v",k="v"; the metric may be among them. Escapes: \\ \" \n
  kPromDump,    // the same with Go's escapes
  kVmJson,      // no metric; tags: {"__name__":"m","k":"v"}
};

// How the metric of a kInflux key follows from measurement and field: "cpu" and "user" are
// "cpu_user", "cpu" and "value" are "cpu".
inline constexpr std::string_view kInfluxSeparator = "_";
inline constexpr std::string_view kInfluxValueField = "value";

// The label that is the metric.
inline constexpr std::string_view kNameLabel = "__name__";

struct SeriesKey {
  KeyGrammar grammar = KeyGrammar::kPutLine;
  std::string_view metric;
  std::string_view tags;
};

}  // namespace halite::ingest
