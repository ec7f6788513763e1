#include "ingest/formats/times.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/shown.h"

namespace halite::ingest {
namespace {

struct UnitName {
  std::string_view name;
  std::int64_t per_second = 0;  // 0: a minute or an hour
  std::int64_t ms = 0;          // 0: less than one
};

constexpr std::array<UnitName, 6> kUnits = {{{"nanoseconds", 1'000'000'000, 0},
                                             {"microseconds", 1'000'000, 0},
                                             {"milliseconds", 1000, 1},
                                             {"seconds", 1, 1000},
                                             {"minutes", 0, 60'000},
                                             {"hours", 0, 3'600'000}}};

constexpr const UnitName& of(TimeUnit unit) { return kUnits[static_cast<std::size_t>(unit)]; }

constexpr std::int64_t kYear2001 = 1'000'000'000;          // seconds
constexpr std::int64_t kYear2106 = std::int64_t{1} << 32;  // seconds

// The unit in which the count is a time between 2001 and 2106.
std::optional<UnitName> likely_unit(std::int64_t count) {
  for (const UnitName& unit : kUnits) {
    if (unit.per_second == 0) continue;
    const std::int64_t seconds = count / unit.per_second;
    if (seconds >= kYear2001 && seconds < kYear2106) return unit;
  }
  return std::nullopt;
}

// As InfluxDB 3 does with precision=auto.
TimeUnit guessed_unit(std::int64_t count) {
  constexpr std::int64_t kSecondsMax = 5'000'000'000;
  if (count < kSecondsMax) return TimeUnit::kSeconds;
  if (count < kSecondsMax * 1000) return TimeUnit::kMilliseconds;
  if (count < kSecondsMax * 1'000'000) return TimeUnit::kMicroseconds;
  return TimeUnit::kNanoseconds;
}

// Digits of a fixed width at the front of `text`, which it removes.
std::optional<int> take_digits(std::string_view& text, std::size_t width) {
  if (count_digits(text.substr(0, width)) != width) return std::nullopt;
  int value = 0;
  for (const char digit : text.substr(0, width)) value = value * 10 + (digit - '0');
  text.remove_prefix(width);
  return value;
}

bool take_char(std::string_view& text, std::string_view any) {
  if (text.empty() || !any.contains(text.front())) return false;
  text.remove_prefix(1);
  return true;
}

// The fraction of a second in milliseconds, rounded down; `digits` has only digits.
std::int64_t fraction_ms(std::string_view digits) {
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 3; ++i) ms = ms * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return ms;
}

}  // namespace

std::optional<TimeUnit> time_unit_named(std::string_view name) {
  if (name == "ns" || name == "n") return TimeUnit::kNanoseconds;
  if (name == "us" || name == "u" || name == "\xC2\xB5") return TimeUnit::kMicroseconds;
  if (name == "ms") return TimeUnit::kMilliseconds;
  if (name == "s") return TimeUnit::kSeconds;
  if (name == "m") return TimeUnit::kMinutes;
  if (name == "h") return TimeUnit::kHours;
  return std::nullopt;
}

std::expected<TimestampMs, std::string> checked_time(std::int64_t count, TimeUnit unit) {
  if (unit == TimeUnit::kGuessed) unit = guessed_unit(count);
  const UnitName& taken = of(unit);
  if (count < 0) return std::unexpected(fmt::format("the time {} is before 1970", count));
  const auto likely = likely_unit(count);
  if (likely && likely->name != taken.name) {
    return std::unexpected(fmt::format("the time {} looks like {}, it has to be in {}", count,
                                       likely->name, taken.name));
  }
  const bool small = taken.ms == 0;
  const std::int64_t per_ms = small ? taken.per_second / 1000 : 1;
  if (small ? count / per_ms > kTimestampMax : count > kTimestampMax / taken.ms) {
    return std::unexpected(fmt::format("the time {} is more than {} ms", count, kTimestampMax));
  }
  return small ? count / per_ms : count * taken.ms;
}

std::expected<std::int64_t, std::string> read_count(std::string_view text) {
  const auto value = parse_java_long(text);
  if (value && text.front() != '+') return *value;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || count_digits(digits) != digits.size()) {
    return std::unexpected(fmt::format("{} is not a time", shown(text)));
  }
  return std::unexpected(fmt::format("the time {} has too many digits", shown(text)));
}

std::expected<TimestampMs, std::string> read_seconds(std::string_view text) {
  const std::string_view whole = text.substr(0, text.find('.'));
  const std::string_view fraction =
      whole.size() == text.size() ? std::string_view() : text.substr(whole.size() + 1);
  if (count_digits(whole) == whole.size() && count_digits(fraction) == fraction.size() &&
      !whole.empty()) {
    auto count = read_count(whole);
    if (!count) return std::unexpected(std::move(count).error());
    auto time = time_in(*count, TimeUnit::kSeconds);
    if (time) *time += fraction_ms(fraction);
    return time;
  }
  double seconds = 0;
  if (!read_double(text, seconds) || !std::isfinite(seconds)) {
    return std::unexpected(fmt::format("{} is not a time", shown(text)));
  }
  if (seconds < 0) return std::unexpected(fmt::format("the time {} is before 1970", shown(text)));
  if (seconds > static_cast<double>(kTimestampMax)) {
    return std::unexpected(
        fmt::format("the time {} is more than {} ms", shown(text), kTimestampMax));
  }
  return time_of_seconds(seconds);
}

std::expected<TimestampMs, std::string> time_of_seconds(double seconds) {
  const double whole = std::floor(seconds);
  auto time = time_in(static_cast<std::int64_t>(whole), TimeUnit::kSeconds);
  if (time) *time += std::min<TimestampMs>(std::llround((seconds - whole) * 1000), 999);
  return time;
}

std::optional<TimestampMs> read_rfc3339(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take_char(text, "-")) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take_char(text, "-")) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day || !take_char(text, "Tt ")) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || !take_char(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || !take_char(text, ":")) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  std::int64_t ms = 0;
  if (take_char(text, ".")) {
    const std::size_t digits = count_digits(text);
    if (digits == 0) return std::nullopt;
    ms = fraction_ms(text.substr(0, digits));
    text.remove_prefix(digits);
  }
  std::int64_t offset_minutes = 0;
  if (text != "Z" && text != "z") {
    const bool west = text.starts_with('-');
    if (!take_char(text, "+-")) return std::nullopt;
    const auto hours = take_digits(text, 2);
    if (!hours || !take_char(text, ":")) return std::nullopt;
    const auto minutes = take_digits(text, 2);
    if (!minutes || !text.empty() || *hours > 23 || *minutes > 59) return std::nullopt;
    offset_minutes = (west ? -1 : 1) * (*hours * 60 + *minutes);
  }
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = ((days * 24 + *hour) * 60 + *minute - offset_minutes) * 60 + *second;
  return seconds * 1000 + ms;
}

}  // namespace halite::ingest
