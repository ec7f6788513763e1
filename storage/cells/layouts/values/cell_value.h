// OpenTSDB's values: integers in the narrowest of 1, 2, 4 or 8 bytes, floats in 4 or 8.
#pragma once

#include <cstdint>
#include <optional>

#include "common/bytes/bytes.h"
#include "common/data_point.h"

namespace halite::storage {

struct PointValue {
  ValueBits bits = 0;
  std::uint8_t flags = 0;  // kFloat, and kWide for a float read from 8 bytes
};

// Whether a double (also a NaN with its payload) is unchanged when stored in 4 bytes.
[[nodiscard]] bool fits_single(ValueBits double_value);

// Appends the value in the form given by the PointFlags and returns the qualifier's flags.
std::uint8_t append_value(Bytes& to, ValueBits value, std::uint8_t point_flags);

// Reads a value of known length. `flags` are the qualifier's; as in OpenTSDB, the real length
// overrides their length bits. nullopt if OpenTSDB considers the value corrupt: an integer not of
// 1, 2, 4 or 8 bytes; a float not of 4 or 8; or a float with flags for 4 bytes and a length of 8,
// whose first four bytes are not zero (a bug of old versions wrote such values with zeros).
[[nodiscard]] std::optional<PointValue> read_value(std::uint8_t flags, BytesView value);

}  // namespace halite::storage
