#include "storage/head/point_stream.h"

#include <bit>
#include <cstring>

namespace halite::storage {
namespace {

constexpr std::uint8_t kLengthMask = 0x0F;
constexpr std::uint8_t kFloatBit = 0x10;
constexpr std::uint8_t kHighBit = 0x20;
constexpr std::uint8_t kTimeBit = 0x40;

// Wrapping, so that times and values of any size make their way back.
std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
std::uint64_t unzigzag(std::uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

unsigned bytes_of(std::uint64_t value) {
  return (static_cast<unsigned>(std::bit_width(value)) + 7) / 8;
}

// Little-endian, all 8 bytes: the caller keeps as many as count.
void store8(std::uint8_t* to, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  std::memcpy(to, &value, sizeof value);
}

std::uint64_t load_low(const std::uint8_t* from, unsigned length) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < length; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

std::uint8_t* put_varint(std::uint8_t* to, std::uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<std::uint8_t>(value);
  return to;
}

std::uint64_t take_varint(const std::uint8_t*& from) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  while ((*from & 0x80) != 0) {
    value |= std::uint64_t{*from++ & 0x7FU} << shift;
    shift += 7;
  }
  return value | std::uint64_t{*from++} << shift;
}

}  // namespace

std::uint8_t* encode_point(std::uint8_t* to, StreamState& state, const StreamPoint& point) {
  const auto step = static_cast<std::uint64_t>(point.time) - static_cast<std::uint64_t>(state.time);
  std::uint8_t* const control = to++;
  std::uint8_t bits = 0;
  if (step != static_cast<std::uint64_t>(state.step)) {
    bits |= kTimeBit;
    to = put_varint(to, zigzag(step - static_cast<std::uint64_t>(state.step)));
  }
  std::uint64_t change = 0;
  unsigned length = 0;
  if (point.is_float) {
    bits |= kFloatBit;
    change = point.value ^ state.value;
    length = bytes_of(change);
    // Round numbers end in zeros: then the low bytes are the ones to leave out.
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
  store8(to, change);
  state = {.time = point.time, .step = static_cast<std::int64_t>(step), .value = point.value};
  return to + length;
}

StreamPoint decode_point(const std::uint8_t*& from, StreamState& state) {
  const std::uint8_t control = *from++;
  if ((control & kTimeBit) != 0) {
    state.step = static_cast<std::int64_t>(static_cast<std::uint64_t>(state.step) +
                                           unzigzag(take_varint(from)));
  }
  state.time = static_cast<TimestampMs>(static_cast<std::uint64_t>(state.time) +
                                        static_cast<std::uint64_t>(state.step));
  const unsigned length = control & kLengthMask;
  std::uint64_t change = load_low(from, length);
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

}  // namespace halite::storage
