// The exact bytes that a sender wrote for metric and tags.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/bytes/ascii.h"

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
  kGraphite,    // tags: k=v;k=v
  kVmJson,      // no metric; tags: {"__name__":"m","k":"v"}

  // Of remote_write (ingest/remote_write): no metric; tags: see label_fields.h.
  kLabelFields,
};

// How the metric of a kInflux key follows from measurement and field: "cpu" and "user" are
// "cpu_user", "cpu" and "value" are "cpu".
inline constexpr std::string_view kInfluxSeparator = "_";
inline constexpr std::string_view kInfluxValueField = "value";

// The label that is the metric.
inline constexpr std::string_view kNameLabel = "__name__";

// Whether a metric or a label may stand without quotes in kExposition and kPromDump. More than
// Prometheus allows: as VictoriaMetrics writes them.
[[nodiscard]] constexpr bool is_bare_name(std::string_view name) {
  const auto is_first = [](char c) {
    return is_letter(c) || c == '_' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
  };
  return !name.empty() && is_first(name.front()) && std::ranges::all_of(name, [&](char c) {
    return is_first(c) || is_digit(c) || c == '.' || c == '-' || c == '/';
  });
}

// Whether a tag "key=value" is one of kGraphite.
[[nodiscard]] constexpr bool is_graphite_tag(std::string_view tag) {
  const std::size_t equals = tag.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == tag.size()) return false;
  const std::string_view key = tag.substr(0, equals);
  return !key.contains('!') && !key.contains('^') && tag[equals + 1] != '~';
}

struct SeriesKey {
  KeyGrammar grammar = KeyGrammar::kPutLine;
  std::string_view metric;
  std::string_view tags;
};

}  // namespace halite::ingest
