// Values as text, in both directions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/bytes/ascii.h"
#include "common/data_point.h"
#include "ingest/ingest_batch.h"

namespace halite::ingest {

// The NaN of Go, and so of Prometheus. Other NaNs have a meaning: kStaleMarker ends a series there.
inline constexpr ValueBits kPlainNan = 0x7FF8'0000'0000'0001;

// How a format writes what is no decimal number.
struct SpecialNumbers {
  std::string_view nan;
  std::string_view infinity;
  std::string_view minus_infinity;
};

// A decimal number at the front: [-]digits[.digits], of up to 18 digits. Returns its end, which the
// caller compares with the byte that has to follow; null: use read_double().
[[nodiscard]] inline const char* scan_double(const char* at, const char* end, double& value) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  // Integers up to here are exact doubles, so that one division rounds only once.
  constexpr std::uint64_t kExactMax = std::uint64_t{1} << 53;
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  std::uint64_t magnitude = 0;
  const char* begin = at;
  for (; at != end && is_digit(*at); ++at) {
    magnitude = (magnitude * 10) + static_cast<std::uint64_t>(*at - '0');
  }
  auto digits = at - begin;
  std::ptrdiff_t fraction = 0;
  if (at != end && *at == '.') {
    begin = ++at;
    for (; at != end && is_digit(*at); ++at) {
      magnitude = (magnitude * 10) + static_cast<std::uint64_t>(*at - '0');
    }
    fraction = at - begin;
    digits += fraction;
  }
  if (digits == 0 || digits > 18 || magnitude > kExactMax) return nullptr;
  const double real = static_cast<double>(magnitude) / kPowers[fraction];
  value = negative ? -real : real;
  return at;
}

// Decimal, with an optional sign, point and exponent; rounds once, too small is 0. False for other
// texts, infinity, NaN, and numbers that are too great.
[[nodiscard]] bool read_double(std::string_view text, double& value);

// The same, and "Inf", "+Inf", "Infinity" and "NaN" in either case.
[[nodiscard]] std::optional<ValueBits> read_go_double(std::string_view text);

[[nodiscard]] inline PointBits double_point(TimestampMs time, ValueBits value) {
  return {.time = time,
          .value = value,
          .flags = static_cast<std::uint8_t>(kFloat | (time % 1000 != 0 ? kMillis : 0))};
}
[[nodiscard]] inline PointBits integer_point(TimestampMs time, std::int64_t value) {
  return {.time = time,
          .value = integer_bits(value),
          .flags = static_cast<std::uint8_t>(time % 1000 != 0 ? kMillis : 0)};
}

// The shortest text that reads back as an equal double. `point`: with ".0" if it would look like an
// integer.
void append_double(std::string& to, double value, bool point);

// Any value; why it cannot be said: a staleness marker, or NaN with other bits than kPlainNan.
[[nodiscard]] std::optional<std::string> nan_without_text(PointBits point);
void append_value(std::string& to, PointBits point, bool point_in_double,
                  const SpecialNumbers& special);

void append_integer(std::string& to, std::int64_t value);

}  // namespace halite::ingest
