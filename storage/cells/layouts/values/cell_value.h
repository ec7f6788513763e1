// OpenTSDB's values: integers in the narrowest of 1, 2, 4 or 8 bytes, floats in 4 or 8.
#pragma once

#include <cstdint>
#include <optional>

#include "common/bytes.h"
#include "common/data_point.h"

namespace halite::storage {

struct PointValue {
  ValueBits bits = 0;
  std::uint8_t flags = 0;  // kFloat, and kWide for a float read from 8 bytes
};

// Whether a double (NaNs and their payloads included) survives being written in 4 bytes.
[[nodiscard]] bool fits_single(ValueBits double_value);

// Appends the value as the PointFlags ask and returns the qualifier's flags for it.
std::uint8_t append_value(Bytes& to, ValueBits value, std::uint8_t point_flags);

// Reads a value whose extent is known. `flags` are the qualifier's; as in OpenTSDB, their length
// bits give way to the real length. Nothing where OpenTSDB finds the value corrupted: an integer
// not on 1, 2, 4 or 8 bytes, a float not on 4 or 8, or a float that was announced on 4 bytes and
// has 8 of which the first four are not zero (an old fault wrote such values with zeros).
[[nodiscard]] std::optional<PointValue> read_value(std::uint8_t flags, BytesView value);

}  // namespace halite::storage
