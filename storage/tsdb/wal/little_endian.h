// Little-endian numbers: the log's, which is written and read by machines that store them so.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "common/bytes.h"

namespace halite::storage {

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

template <class T>
void store_le(char* to, T value) {
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

}  // namespace halite::storage
