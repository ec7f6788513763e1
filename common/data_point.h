// The name of a series and the value of a point, as parsers pass them to the store and back.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
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
  std::vector<Tag> tags;  // in key order, without duplicate keys
  auto operator<=>(const SeriesName&) const = default;
};

// The 64 bits of a value: a two's complement integer or an IEEE double, depending on the point's
// flag. Bits instead of a double keep NaN payloads and -0.
using ValueBits = std::uint64_t;

[[nodiscard]] inline ValueBits integer_bits(std::int64_t value) {
  return std::bit_cast<ValueBits>(value);
}
[[nodiscard]] inline ValueBits double_bits(double value) { return std::bit_cast<ValueBits>(value); }
[[nodiscard]] inline std::int64_t as_integer(ValueBits bits) {
  return std::bit_cast<std::int64_t>(bits);
}
[[nodiscard]] inline double as_double(ValueBits bits) { return std::bit_cast<double>(bits); }

// Prometheus' staleness marker, a NaN: the series ends here. Answers in OpenTSDB's API do not
// contain it.
inline constexpr ValueBits kStaleMarker = 0x7FF0'0000'0000'0002;

// Properties of a point besides its value. kMillis and kWide choose the qualifier and the width
// where OpenTSDB's bytes are written. They never change the value that is read back.
enum PointFlag : std::uint8_t {
  kFloat = 1,   // a double; otherwise an integer
  kMillis = 2,  // the timestamp was given in milliseconds; otherwise in seconds
  kWide = 4,    // store a double in 8 bytes even if 4 are exact (as OpenTSDB does for HTTP)
};

}  // namespace halite
