// OpenTSDB's point qualifiers: the position of a point in its hour and the form of its value.
//
//   2 bytes  (seconds << 4) | flags                    seconds 0 to 3599
//   4 bytes  0xF0000000 | (milliseconds << 6) | flags  milliseconds 0 to 3599999
//   flags    bit 3: a float; bits 0-2: the value's length - 1
#pragma once

#include <cstdint>
#include <optional>

#include "common/bytes/bytes.h"

namespace halite::storage {

inline constexpr std::int64_t kRowSeconds = 3600;
inline constexpr std::int64_t kRowMs = kRowSeconds * 1000;

inline constexpr std::uint8_t kQualifierFloat = 0x8;
inline constexpr std::uint8_t kQualifierLength = 0x7;

struct PointQualifier {
  std::uint32_t offset_ms = 0;  // in the row, 0 to 3599999
  bool millis = false;          // the 4-byte form
  std::uint8_t flags = 0;       // the low four bits
};

// The length of a qualifier that begins with this byte.
[[nodiscard]] inline std::size_t qualifier_size(char first) {
  return (static_cast<unsigned char>(first) & 0xF0) == 0xF0 ? 4 : 2;
}

// The length of the value according to the flags.
[[nodiscard]] inline std::size_t value_size(std::uint8_t flags) {
  return static_cast<std::size_t>(flags & kQualifierLength) + 1;
}

void append_qualifier(Bytes& to, const PointQualifier& qualifier);

// Reads the first qualifier of `from`. nullopt if the bytes end too early or the offset lies
// outside the hour.
[[nodiscard]] std::optional<PointQualifier> read_qualifier(BytesView from);

}  // namespace halite::storage
