// OpenTSDB's histogram points: cells in the series' ordinary rows.
//
//   qualifier  06 + seconds in the hour(2), or 06 + milliseconds in the hour(4)
//   value      codec id(1) + what the codec wrote
//
// The codec's part is not read here.
#pragma once

#include <cstdint>
#include <optional>

#include "common/bytes.h"
#include "common/clock.h"

namespace halite::storage {

inline constexpr char kHistogramPrefix = 6;

struct HistogramCell {
  std::uint32_t offset_ms = 0;  // in the hour
  bool millis = false;
  std::uint8_t codec = 0;
  BytesView payload;  // points into the cell's value
};

// time >= 0; a time that is not on a whole second is written in milliseconds whatever is asked.
[[nodiscard]] Bytes histogram_qualifier(TimestampMs time, bool millis);

[[nodiscard]] bool is_histogram(BytesView qualifier);

// Nothing when the cell is no histogram, lies outside the hour or has no codec id.
[[nodiscard]] std::optional<HistogramCell> read_histogram(BytesView qualifier, BytesView value);

}  // namespace halite::storage
