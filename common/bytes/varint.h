// Variable-length numbers (LEB128): seven bits in each byte, low bits first. The top bit marks that
// more bytes follow. Zigzag maps small magnitudes of either sign to small numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/bytes/bytes.h"

namespace halite {

inline constexpr std::size_t kVarintBytesMax = 10;

// Maps 0 -1 1 -2 2 to 0 1 2 3 4. Accepts any 64 bits.
[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t value) {
  return (value << 1) ^ (std::uint64_t{0} - (value >> 63));
}
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t value) {
  return (value >> 1) ^ (std::uint64_t{0} - (value & 1));
}

[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Writes at `to`, which has kVarintBytesMax bytes free. Returns the end. Byte is one byte wide.
template <class Byte>
[[nodiscard]] constexpr Byte* store_varint(Byte* to, std::uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<Byte>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<Byte>(value);
  return to;
}

inline void append_varint(Bytes& to, std::uint64_t value) {
  char bytes[kVarintBytesMax];
  to.append(bytes, store_varint(bytes, value));
}

// Removes a number from the front of `rest`. Returns nullopt if the number does not end or exceeds
// 64 bits; `rest` is then unspecified.
[[nodiscard]] constexpr std::optional<std::uint64_t> take_varint(BytesView& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (shift == 63 && byte > 1) break;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Reads a number that store_varint() wrote and moves `from` past it. Checks nothing.
[[nodiscard]] constexpr std::uint64_t take_trusted_varint(const std::uint8_t*& from) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  while ((*from & 0x80) != 0) {
    value |= std::uint64_t{*from++ & 0x7FU} << shift;
    shift += 7;
  }
  return value | std::uint64_t{*from++} << shift;
}

}  // namespace halite
