// Numbers and durations in the text of PromQL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/bytes/ascii.h"
#include "common/result.h"

namespace halite::query::promql {

[[nodiscard]] constexpr bool is_word_character(char c) { return is_letter_or_digit(c) || c == '_'; }

// What begins with a digit, or with a point and a digit.
struct ScannedNumber {
  enum class Kind : std::uint8_t { kNumber, kDuration, kNeither };
  Kind kind = Kind::kNeither;
  std::size_t bytes = 0;  // kNeither: up to the first wrong character
};
// Only tells where it ends: parse_number() and parse_duration() tell whether it is one.
[[nodiscard]] ScannedNumber scan_number(std::string_view text);

// 12, 0x1F, 017, 1_000, 1.5e3, Inf, NaN. kInvalidArgument: Go's message.
[[nodiscard]] Result<double> parse_number(std::string_view text);

// As Go's strconv.ParseFloat: 12, +1_000.5e3, 0x1p10, -Infinity, NaN. kInvalidArgument: Go's
// message.
[[nodiscard]] Result<double> parse_float(std::string_view text);

// Milliseconds of 1h30m: units y w d h m s ms from big to small, each once. "0" has none.
// kInvalidArgument: Prometheus' message.
[[nodiscard]] Result<std::int64_t> parse_duration(std::string_view text);

// 1h30m. Years and weeks only if nothing remains.
[[nodiscard]] std::string duration_text(std::int64_t ms);

// The time that a duration may have: 2^63 nanoseconds.
inline constexpr double kDurationSecondsMax = 9223372036.854775808;

// Milliseconds, cut toward zero; seconds are within kDurationSecondsMax.
[[nodiscard]] std::int64_t duration_ms(double seconds);

}  // namespace halite::query::promql
