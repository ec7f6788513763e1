// The cyclic layout's point values (docs/formats/cyclic-layout.md; reasons: docs/decisions/0002).
//
//   byte 0    the point's PointFlag bits; the other five bits are zero
//   then      an integer: two's complement, without the leading bytes that its sign implies;
//             a double: its IEEE bytes, most significant first, without the trailing zero bytes
//
// 0 and 0.0 take one byte, other values at most nine; all 2^64 bit patterns of both types are
// preserved.
#pragma once

#include <cstdint>
#include <optional>

#include "common/bytes/bytes.h"
#include "storage/cells/layouts/values/cell_value.h"

namespace halite::storage {

[[nodiscard]] Bytes cyclic_value(ValueBits value, std::uint8_t point_flags);

// flags contains all PointFlag bits of the point. nullopt if the bytes are not a value in its
// shortest form.
[[nodiscard]] std::optional<PointValue> read_cyclic_value(BytesView value);

}  // namespace halite::storage
