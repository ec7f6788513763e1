// Bytes and times that several tests of row layouts use.
#pragma once

#include <string_view>

#include "common/bytes/bytes.h"
#include "common/data_point.h"

namespace halite::storage {

inline Bytes hex(std::string_view text) { return from_hex(text).value(); }

// A full hour, and a metric with one tag.
inline constexpr TimestampMs kBase = 1'356'998'400'000;
inline const Bytes kTsuid = hex("000001000001000001");

}  // namespace halite::storage
