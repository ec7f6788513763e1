// Times of text formats: counts of a unit since 1970, with a check that it is the right unit.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "ingest/rules/point_rules.h"

namespace halite::ingest {

enum class TimeUnit : std::uint8_t {
  kNanoseconds,
  kMicroseconds,
  kMilliseconds,
  kSeconds,
  kMinutes,
  kHours,
  kGuessed,  // by size, as InfluxDB 3 does: seconds below 5e9, then 1000 times finer at each 1000
};

// InfluxDB's precisions: "ns" "n" "us" "u" "ms" "s" "m" "h".
[[nodiscard]] std::optional<TimeUnit> time_unit_named(std::string_view name);

// What milliseconds may be. Below 2^32 a count may be one of seconds, as OpenTSDB reads it.
inline constexpr TimestampMs kSurelyMillis = TimestampMs{1} << 32;

// The slow part of time_in().
[[nodiscard]] std::expected<TimestampMs, std::string> checked_time(std::int64_t count,
                                                                   TimeUnit unit);

// Rounds down to milliseconds. The error: the time is before 1970, after kTimestampMax, or reads as
// one of the years 2001 to 2106 in another unit: "the time 1700000000 looks like seconds, ..".
[[nodiscard]] inline std::expected<TimestampMs, std::string> time_in(std::int64_t count,
                                                                     TimeUnit unit) {
  TimestampMs time = 0;
  if (unit == TimeUnit::kMilliseconds) time = count;
  if (unit == TimeUnit::kNanoseconds) time = count / 1'000'000;
  if (time >= kSurelyMillis && time <= kTimestampMax) [[likely]]
    return time;
  return checked_time(count, unit);
}

// A count of digits, with an optional sign. The error says what is wrong with the text.
[[nodiscard]] std::expected<std::int64_t, std::string> read_count(std::string_view text);

// To the nearest millisecond of the second, as a double does not say a decimal fraction exactly.
[[nodiscard]] std::expected<TimestampMs, std::string> time_of_seconds(double seconds);

// "1700000000.25": seconds with a fraction, or with an exponent.
[[nodiscard]] std::expected<TimestampMs, std::string> read_seconds(std::string_view text);

// "2023-11-14T22:13:20.123Z", "2023-11-14 22:13:20+01:00". Nothing if the text is no such time.
[[nodiscard]] std::optional<TimestampMs> read_rfc3339(std::string_view text);

}  // namespace halite::ingest
