// Little-endian numbers. For big-endian numbers see common/bytes/bytes.h.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "common/bytes/bytes.h"

namespace halite {

// Reads sizeof(T) bytes at `from`, least significant first. The caller checks the length.
template <class T>
[[nodiscard]] T load_le(const char* from) {
  static_assert(std::is_unsigned_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) {
    value = std::byteswap(value);
  }
  return value;
}

// Writes sizeof(T) bytes at `to`.
template <class T>
void store_le(void* to, T value) {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) {
    value = std::byteswap(value);
  }
  std::memcpy(to, &value, sizeof value);
}

template <class T>
void append_le(Bytes& to, T value) {
  char bytes[sizeof(T)];
  store_le(bytes, value);
  to.append(bytes, sizeof bytes);
}

}  // namespace halite
