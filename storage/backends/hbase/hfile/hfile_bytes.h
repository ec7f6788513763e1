// Small parts of HBase's formats that several blocks of an HFile share.
#pragma once

#include <bit>
#include <cstdint>

#include "common/bytes/bytes.h"

namespace halite::storage::hbase {

// Where a block lies in the file.
struct BlockPlace {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;  // with header and checksums
};

// Appends a number of at least 0 in the form of Hadoop's WritableUtils: 0 to 127 in one byte, else
// a byte with the length, then the number, most significant byte first.
inline void append_hadoop_number(Bytes& to, std::uint32_t value) {
  if (value < 128) {
    to.push_back(static_cast<char>(value));
    return;
  }
  const auto bytes = static_cast<unsigned>((std::bit_width(value) + 7) / 8);
  to.push_back(static_cast<char>(-112 - static_cast<int>(bytes)));
  append_be_width(to, value, bytes);
}

inline void append_place(Bytes& to, BlockPlace place) {
  append_be(to, place.offset);
  append_be(to, place.bytes);
}

}  // namespace halite::storage::hbase
