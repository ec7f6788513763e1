// The recent points of one series in order of arrival, in a few bytes each: 1 byte for an integer
// gauge with a regular interval and small changes.
//
//   short     1 byte with bit 7: an integer with the previous step; bits 0-6 = zigzag(value - the
//             previous value)
//   control   otherwise 1 byte: bits 0-3 = bytes of the value (0 to 8), bit 4 = the value is a
//             double, bit 5 = those bytes are the high ones, bit 6 = a time follows
//   time      zigzag varint: difference in ms between this step and the previous one
//   value     little-endian: integers zigzag(value - the previous value), doubles the bits that
//             differ from the previous value
//
// A step that does not fit in 32 bits counts as 0 for the next point. Times may come in any order
// and repeat. The bytes never leave the process.
//
// Over 140 lines because the code is inlined where points are appended.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/bytes/little_endian.h"
#include "common/bytes/varint.h"
#include "common/clock.h"
#include "common/data_point.h"

namespace halite::storage {

// The state from which the next point is encoded.
struct StreamState {
  TimestampMs time = 0;
  ValueBits value = 0;
  std::int32_t step = 0;
};

inline constexpr std::size_t kStreamPointBytesMax = 1 + 10 + 8;  // the encoder may touch all

struct StreamPoint {
  TimestampMs time = 0;
  ValueBits value = 0;
  bool is_float = false;
};

namespace point_stream {

// Bits of a control byte.

inline constexpr std::uint8_t kLengthMask = 0x0F;
inline constexpr std::uint8_t kFloatBit = 0x10;
inline constexpr std::uint8_t kHighBit = 0x20;
inline constexpr std::uint8_t kTimeBit = 0x40;
inline constexpr std::uint8_t kShortBit = 0x80;

inline unsigned bytes_of(std::uint64_t value) {
  return (static_cast<unsigned>(std::bit_width(value)) + 7) / 8;
}

// The number in the first `length` (0 to 8) of the bytes up to `end`.
inline std::uint64_t load_low(const std::uint8_t* from, const std::uint8_t* end, unsigned length) {
  if (length == 0) return 0;
  if (end - from >= 8) [[likely]] {
    const auto word = load_le<std::uint64_t>(reinterpret_cast<const char*>(from));
    return word & ~std::uint64_t{0} >> (64 - 8 * length);
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < length; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

// The step as the state stores it.
inline std::int32_t kept_step(std::uint64_t step) {
  const auto kept = static_cast<std::int32_t>(step);
  return static_cast<std::uint64_t>(std::int64_t{kept}) == step ? kept : 0;
}

// Writes a point at `to`, where kStreamPointBytesMax bytes must be free, and returns its end. State
// is any type with the members of StreamState.
template <class State>
[[nodiscard]] std::uint8_t* encode_point(std::uint8_t* to, State& state, const StreamPoint& point) {
  const auto step = static_cast<std::uint64_t>(point.time) - static_cast<std::uint64_t>(state.time);
  const auto step_before = static_cast<std::uint64_t>(std::int64_t{state.step});
  if (!point.is_float && step == step_before) {
    const std::uint64_t change = zigzag(point.value - state.value);
    if (change < kShortBit) {
      *to = static_cast<std::uint8_t>(kShortBit | change);
      state.time = point.time;
      state.value = point.value;
      return to + 1;
    }
  }
  std::uint8_t* const control = to++;
  std::uint8_t bits = 0;
  if (step != step_before) {
    bits |= kTimeBit;
    to = store_varint(to, zigzag(step - step_before));
  }
  std::uint64_t change = 0;
  unsigned length = 0;
  if (point.is_float) {
    bits |= kFloatBit;
    change = point.value ^ state.value;
    length = bytes_of(change);
    // Round numbers end in zero bits: omit the low bytes instead.
    const unsigned zeros = change == 0 ? 0 : static_cast<unsigned>(std::countr_zero(change)) / 8;
    if (8 - zeros < length) {
      bits |= kHighBit;
      length = 8 - zeros;
      change >>= 8 * zeros;
    }
  } else {
    change = zigzag(point.value - state.value);
    length = bytes_of(change);
  }
  *control = static_cast<std::uint8_t>(bits | length);
  store_le(to, change);
  state.time = point.time;
  state.value = point.value;
  state.step = kept_step(step);
  return to + length;
}

// Reads a point that encode_point() wrote, and advances `from` past it. `end` is that of the last
// point.
[[nodiscard]] inline StreamPoint decode_point(const std::uint8_t*& from, const std::uint8_t* end,
                                              StreamState& state) {
  const std::uint8_t control = *from++;
  auto step = static_cast<std::uint64_t>(std::int64_t{state.step});
  if ((control & kShortBit) != 0) {
    state.time = static_cast<TimestampMs>(static_cast<std::uint64_t>(state.time) + step);
    state.value += unzigzag(control & ~std::uint64_t{kShortBit});
    return {.time = state.time, .value = state.value, .is_float = false};
  }
  if ((control & kTimeBit) != 0) step += unzigzag(take_trusted_varint(from));
  state.time = static_cast<TimestampMs>(static_cast<std::uint64_t>(state.time) + step);
  state.step = kept_step(step);
  const unsigned length = control & kLengthMask;
  std::uint64_t change = load_low(from, end, length);
  from += length;
  const bool is_float = (control & kFloatBit) != 0;
  if (is_float) {
    if ((control & kHighBit) != 0) change <<= 8 * (8 - length);
    state.value ^= change;
  } else {
    state.value += unzigzag(change);
  }
  return {.time = state.time, .value = state.value, .is_float = is_float};
}

}  // namespace point_stream
}  // namespace halite::storage
