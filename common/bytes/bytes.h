// Byte strings, and big-endian numbers in them.
//
// Bytes and BytesView compare by unsigned byte; a prefix sorts before the longer string.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/result.h"

namespace halite {

using Bytes = std::string;
using BytesView = std::string_view;

// Reads sizeof(T) bytes at `from`, most significant first. The caller checks the length.
template <class T>
[[nodiscard]] T load_be(const char* from) {
  static_assert(std::is_unsigned_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::little && sizeof(T) > 1) {
    value = std::byteswap(value);
  }
  return value;
}

// Appends sizeof(T) bytes, most significant first.
template <class T>
void append_be(Bytes& to, T value) {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (std::endian::native == std::endian::little && sizeof(T) > 1) {
    value = std::byteswap(value);
  }
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The low `width` (0 to 8) bytes of a number, most significant first. Used for ids and salts.
void append_be_width(Bytes& to, std::uint64_t value, unsigned width);
[[nodiscard]] std::uint64_t load_be_width(BytesView from);  // at most 8 bytes

// Upper-case hexadecimal without separators, as OpenTSDB prints ids.
[[nodiscard]] std::string to_hex(BytesView bytes);
// Accepts either case. An odd length or any other character is kInvalidArgument.
[[nodiscard]] Result<Bytes> from_hex(std::string_view hex);

// The smallest byte string greater than every string that begins with `prefix`. Empty if the prefix
// is all 0xFF, because no such string exists.
[[nodiscard]] Bytes prefix_end(BytesView prefix);

}  // namespace halite
