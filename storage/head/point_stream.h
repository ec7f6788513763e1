// One series' recent points in the order they came, in few bytes each: about 2 where a gauge of
// integers ticks evenly.
//
//   control   1 byte: bits 0-3 = bytes of the value (0 to 8), bit 4 = the value is a double, bit 5
//   =
//             those bytes are the high ones, bit 6 = a time follows
//   time      zigzag varint: by how many ms the step differs from the step before
//   value     little-endian: integers zigzag(value - the value before), doubles the bits that
//   differ
//             from the value before
//
// Any order of times is taken, also repeated ones. The bytes never leave the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/clock.h"
#include "common/data_point.h"

namespace halite::storage {

// What the next point is told from.
struct StreamState {
  TimestampMs time = 0;
  std::int64_t step = 0;
  ValueBits value = 0;
};

inline constexpr std::size_t kStreamPointBytesMax = 1 + 10 + 8;

struct StreamPoint {
  TimestampMs time = 0;
  ValueBits value = 0;
  bool is_float = false;
};

// Writes a point at `to`, where kStreamPointBytesMax bytes are free; returns the end of it.
[[nodiscard]] std::uint8_t* encode_point(std::uint8_t* to, StreamState& state,
                                         const StreamPoint& point);

// Reads a point that encode_point() wrote; moves `from` behind it.
[[nodiscard]] StreamPoint decode_point(const std::uint8_t*& from, StreamState& state);

}  // namespace halite::storage
