// Values and times of Graphite, as texts and as numbers. For ingest/formats and ingest/graphite.
#pragma once

#include <cmath>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "common/bytes/ascii.h"
#include "common/data_point.h"
#include "ingest/formats/times.h"

namespace halite::ingest {

// Carbon drops NaN. Why a value is none: it is NaN.
[[nodiscard]] inline std::optional<std::string> graphite_nan(ValueBits value) {
  if (!std::isnan(as_double(value))) return std::nullopt;
  return "NaN is no value in Graphite";
}

// As Python's float() reads: decimal, "inf", "infinity". The error says what is wrong.
[[nodiscard]] std::expected<ValueBits, std::string> read_graphite_value(std::string_view text);

// The slow part of read_graphite_time().
[[nodiscard]] std::expected<TimestampMs, std::string> checked_graphite_time(
    std::string_view text, std::optional<TimestampMs> now);

// Seconds, with a fraction if need be. -1 and N are `now`; without it they are refused.
[[nodiscard]] inline std::expected<TimestampMs, std::string> read_graphite_time(
    std::string_view text, std::optional<TimestampMs> now) {
  constexpr std::size_t kDigits = 10;
  constexpr std::int64_t kUncheckedBegin = 1'000'000'000;  // seconds that need no check
  constexpr std::int64_t kUncheckedEnd = std::int64_t{1} << 32;
  if (text.size() == kDigits) [[likely]] {
    std::int64_t count = 0;
    bool digits = true;
    for (const char c : text) {
      digits = digits && is_digit(c);
      count = count * 10 + (c - '0');
    }
    if (digits && count >= kUncheckedBegin && count < kUncheckedEnd) return count * 1000;
  }
  return checked_graphite_time(text, now);
}

// The same of numbers.
[[nodiscard]] std::expected<TimestampMs, std::string> graphite_time(double seconds,
                                                                    std::optional<TimestampMs> now);

}  // namespace halite::ingest
