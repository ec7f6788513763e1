// A series' name and a point's value, as they travel from parsers to the store and back.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"

namespace halite {

struct Tag {
  std::string key;
  std::string value;
  auto operator<=>(const Tag&) const = default;
};

struct SeriesName {
  std::string metric;
  std::vector<Tag> tags;  // in key order, no key twice
  auto operator<=>(const SeriesName&) const = default;
};

// The 64 bits of a value: a two's complement integer or an IEEE double, as the point's flag says.
// Bits, not a double, so that NaN payloads and -0 come back as they went in.
using ValueBits = std::uint64_t;

[[nodiscard]] inline ValueBits integer_bits(std::int64_t value) {
  return std::bit_cast<ValueBits>(value);
}
[[nodiscard]] inline ValueBits double_bits(double value) { return std::bit_cast<ValueBits>(value); }
[[nodiscard]] inline std::int64_t as_integer(ValueBits bits) {
  return std::bit_cast<std::int64_t>(bits);
}
[[nodiscard]] inline double as_double(ValueBits bits) { return std::bit_cast<double>(bits); }

// What a point was besides its value. kMillis and kWide matter only where OpenTSDB's bytes are
// written: they choose the qualifier and the width there, never the value that comes back.
enum PointFlag : std::uint8_t {
  kFloat = 1,   // a double; otherwise an integer
  kMillis = 2,  // its time was given in milliseconds; otherwise in seconds
  kWide = 4,    // store a double in 8 bytes even where 4 are exact (as OpenTSDB does for HTTP)
};

}  // namespace halite
