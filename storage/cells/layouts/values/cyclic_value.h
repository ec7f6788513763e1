// The cyclic layout's point values (docs/formats/cyclic-layout.md; why: docs/decisions/0002).
//
//   byte 0    the point's PointFlag bits; the other five bits are zero
//   then      an integer: two's complement, without the leading bytes that its sign implies;
//             a double: its IEEE bytes, most significant first, without the trailing zero bytes
//
// 0 and 0.0 take one byte, no value more than nine, and all 2^64 patterns of either kind come back.
#pragma once

#include <cstdint>
#include <optional>

#include "common/bytes.h"
#include "storage/cells/layouts/values/cell_value.h"

namespace halite::storage {

[[nodiscard]] Bytes cyclic_value(ValueBits value, std::uint8_t point_flags);

// flags holds all PointFlag bits of the point. Nothing when the bytes are no value, or not the
// shortest form of one.
[[nodiscard]] std::optional<PointValue> read_cyclic_value(BytesView value);

}  // namespace halite::storage
