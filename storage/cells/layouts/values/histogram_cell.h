// OpenTSDB's histogram points: cells in the series' ordinary rows.
//
//   qualifier  06 + seconds in the hour(2), or 06 + milliseconds in the hour(4)
//   value      codec id(1) + the codec's bytes
//
// The codec's bytes are not interpreted here.
#pragma once

#include <cstdint>
#include <optional>

#include "common/bytes/bytes.h"
#include "common/clock.h"

namespace halite::storage {

inline constexpr char kHistogramPrefix = 6;

struct HistogramCell {
  std::uint32_t offset_ms = 0;  // in the hour
  bool millis = false;
  std::uint8_t codec = 0;
  BytesView payload;  // a view of the cell's value
};

// time >= 0; a time that is not a whole second is always written in milliseconds.
[[nodiscard]] Bytes histogram_qualifier(TimestampMs time, bool millis);

[[nodiscard]] bool is_histogram(BytesView qualifier);

// nullopt if the cell is no histogram, lies outside the hour or has no codec id.
[[nodiscard]] std::optional<HistogramCell> read_histogram(BytesView qualifier, BytesView value);

}  // namespace halite::storage
