#include "query/parse/time.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <system_error>

#include <cctz/civil_time.h>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/parse/question_parse.h"
#include "query/parse/text.h"

namespace halite::query {
namespace {

// Reads the fields of a date as Java's SimpleDateFormat does: accepts blanks and a sign before a
// number, and numbers of any length. Ignores all that follows the last field.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  std::int64_t number() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    constexpr std::int64_t kFieldMax = 100'000'000;  // such years still fit in milliseconds
    if (error != std::errc{} || value > kFieldMax || value < -kFieldMax) {
      ok_ = false;
      return 0;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  void literal(char c) {
    if (rest_.empty() || rest_.front() != c) {
      ok_ = false;
    } else {
      rest_.remove_prefix(1);
    }
  }

  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// Days since 1970 of a Julian date: Java's calendar is Julian before October 1582.
std::int64_t julian_days(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t cycle = (y >= 0 ? y : y - 3) / 4;
  const std::int64_t year_of_cycle = y - cycle * 4;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return cycle * 1461 + year_of_cycle * 365 + day_of_year - 719470;
}

cctz::civil_second civil_time(std::int64_t year, std::int64_t month, std::int64_t day,
                              std::int64_t hour, std::int64_t minute, std::int64_t second) {
  const cctz::civil_month first(year, month);
  if (first.year() >= 1582) return cctz::civil_second(year, month, day, hour, minute, second);
  const std::int64_t days = julian_days(first.year(), first.month(), 1) + day - 1;
  return cctz::civil_second(1970, 1, 1 + days, hour, minute, second);
}

Result<TimestampMs> parse_date(std::string_view text, const ParseContext& context) {
  const bool with_time = text.size() >= 16;
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) {
    return fail(Errc::kInvalidArgument, fmt::format("Invalid absolute date: {}", text));
  }
  const auto zone = find_time_zone(context.timezone);
  if (!zone) {
    return fail(Errc::kInvalidArgument, fmt::format("Invalid timezone name: {}", context.timezone));
  }
  DateReader reader(text);
  const std::int64_t year = reader.number();
  reader.literal('/');
  const std::int64_t month = reader.number();
  reader.literal('/');
  const std::int64_t day = reader.number();
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  if (with_time) {
    reader.literal(text.contains('-') ? '-' : ' ');
    hour = reader.number();
    reader.literal(':');
    minute = reader.number();
  }
  if (text.size() == 19) {
    reader.literal(':');
    second = reader.number();
  }
  if (!reader.ok()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Invalid date: {0}. Unparseable date: \"{0}\"", text));
  }
  return local_to_seconds(civil_time(year, month, day, hour, minute, second), *zone) * 1000;
}

// "1356998400.250": ten digits, a dot, one to three digits.
bool is_dotted(std::string_view text) {
  return text.size() >= 12 && text.size() <= 14 && text[10] == '.' &&
         std::ranges::all_of(text.substr(0, 10), is_digit) &&
         std::ranges::all_of(text.substr(11), is_digit);
}

Result<TimestampMs> parse_epoch(std::string_view text) {
  std::string digits(text);
  if (text.contains('.')) {
    if (!is_dotted(text)) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("Invalid time: {}. Millisecond timestamps must be in the format "
                              "<seconds>.<ms> where the milliseconds are limited to 3 digits",
                              text));
    }
    std::erase(digits, '.');
  }
  const auto time = parse_integer(digits);
  if (!time) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Invalid time: {}. {}", text, time.error().message));
  }
  if (*time < 0) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Invalid time: {}. Negative timestamps are not supported.", text));
  }
  return text.size() <= 10 ? *time * 1000 : *time;
}

}  // namespace

Result<std::int64_t> parse_duration(std::string_view text) {
  const auto refuse = [text](std::string_view what) {
    return fail(Errc::kInvalidArgument, fmt::format("{}: {}", what, text));
  };
  if (text.empty()) return fail(Errc::kInvalidArgument, "Cannot parse null or empty duration");
  const auto digits =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  if (digits == text.size()) return refuse("Invalid duration, must have an integer and unit");
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, count);
  if (error != std::errc{}) return refuse("Invalid duration (number)");
  if (count <= 0) return refuse("Zero or negative duration");

  std::int64_t unit_ms = 0;
  switch (text.back()) {
    case 's':
    case 'S':
      if (text[text.size() - 2] == 'm') return count;
      unit_ms = 1000;
      break;
    case 'm':
    case 'M':
      unit_ms = 60'000;
      break;
    case 'h':
    case 'H':
      unit_ms = 3'600'000;
      break;
    case 'd':
    case 'D':
      unit_ms = 86'400'000;
      break;
    case 'w':
    case 'W':
      unit_ms = 7 * 86'400'000LL;
      break;
    case 'n':
    case 'N':
      unit_ms = 30 * 86'400'000LL;
      break;
    case 'y':
    case 'Y':
      unit_ms = 365 * 86'400'000LL;
      break;
    default:
      return refuse("Invalid duration (suffix)");
  }
  std::int64_t duration = 0;
  if (__builtin_mul_overflow(count, unit_ms, &duration)) {
    return refuse("Duration must be < Long.MAX_VALUE ms");
  }
  return duration;
}

namespace {

using ZoneNames = std::set<std::string, std::less<>>;

// The files in which cctz looks for zones.
ZoneNames read_zone_names() {
  namespace fs = std::filesystem;
  const char* const named = std::getenv("TZDIR");  // NOLINT(concurrency-mt-unsafe)
  const fs::path root = named == nullptr ? "/usr/share/zoneinfo" : named;
  ZoneNames names;
  std::error_code error;  // no such folder: only UTC exists
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (at->is_regular_file(gone)) names.insert(at->path().lexically_relative(root).string());
  }
  return names;
}

const ZoneNames& zone_names() {
  static const ZoneNames kNames = read_zone_names();
  return kNames;
}

}  // namespace

void load_time_zone_names() { zone_names(); }

std::optional<cctz::time_zone> find_time_zone(std::string_view name) {
  if (name.empty() || name == "UTC") return cctz::utc_time_zone();
  // cctz opens a file with this name, and caches every name that it is asked for.
  const auto allowed = [](char c) {
    return is_letter_or_digit(c) || c == '/' || c == '_' || c == '-' || c == '+';
  };
  constexpr std::size_t kNameMax = 64;
  if (name.size() > kNameMax || name.front() == '/' || !std::ranges::all_of(name, allowed)) {
    return std::nullopt;
  }
  for (const std::string_view prefix : {"posix/", "right/", "Fixed/", "localtime", "posixrules"}) {
    if (name.starts_with(prefix)) return std::nullopt;
  }
  if (!zone_names().contains(name)) return std::nullopt;
  cctz::time_zone zone;
  if (!cctz::load_time_zone(std::string(name), &zone)) return std::nullopt;
  return zone;
}

std::int64_t local_to_seconds(const cctz::civil_second& local, const cctz::time_zone& zone) {
  const auto found = zone.lookup(local);
  const bool repeated = found.kind == cctz::time_zone::civil_lookup::REPEATED;
  return (repeated ? found.post : found.pre).time_since_epoch().count();
}

Result<std::int64_t> parse_integer(std::string_view text) {
  const auto refuse = [text](std::string_view what) {
    return fail(Errc::kInvalidArgument, fmt::format("{}{}", what, text));
  };
  if (text.empty()) return fail(Errc::kInvalidArgument, "Empty string");
  const bool negative = text.front() == '-';
  const bool sign = negative || text.front() == '+';
  const std::string_view digits = text.substr(sign ? 1 : 0);
  if (digits.empty()) return refuse("Just a sign, no value: ");
  if (digits.size() > 19) return refuse("Value too long: ");
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) {
      return fail(Errc::kInvalidArgument, fmt::format("Invalid character '{}' in {}", c, text));
    }
    value = value * 10 + static_cast<std::uint64_t>(c - '0');  // 19 digits fit
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value > kMax + (negative ? 1 : 0)) return refuse("Overflow in ");
  return static_cast<std::int64_t>(negative ? -value : value);
}

Result<TimestampMs> parse_time(std::string_view text, const ParseContext& context) {
  if (text.empty()) return fail(Errc::kInvalidArgument, "Empty time");
  if (text.size() > 2 && text.ends_with("ms") &&
      std::ranges::all_of(text.substr(0, text.size() - 2), is_digit)) {
    return parse_integer(text.substr(0, text.size() - 2));
  }
  const std::string lower = to_lower(text);
  if (lower == "now") return context.now;
  if (lower.ends_with("-ago")) {
    TRY(const std::int64_t duration, parse_duration(text.substr(0, text.size() - 4)));
    return context.now - duration;
  }
  if (text.contains('/') || text.contains(':')) return parse_date(text, context);
  return parse_epoch(text);
}

}  // namespace halite::query
