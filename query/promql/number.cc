#include "query/promql/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/promql/go_text.h"

namespace halite::query::promql {
namespace {

// Reads characters of a text from its start.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] bool at_word() const { return !at_end() && is_word_character(text_[at_]); }
  [[nodiscard]] bool is(std::string_view set) const {
    return !at_end() && set.contains(text_[at_]);
  }
  bool take(std::string_view set) {
    if (!is(set)) return false;
    ++at_;
    return true;
  }
  void take_all(std::string_view set) {
    while (take(set)) continue;
  }
  void skip() { ++at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::string_view kDecimal = "0123456789";
constexpr std::string_view kHexadecimal = "0123456789abcdefABCDEF";

// A point, an exponent or an underscore in a number; false: it is wrong there.
class NumberScan {
 public:
  explicit NumberScan(Cursor& cursor) : cursor_(cursor) {}

  bool run() {
    if (cursor_.take("0") && cursor_.take("xX")) {
      cursor_.take("_");
      digits_ = kHexadecimal;
    }
    cursor_.take(".");
    cursor_.take(digits_);
    while (true) {
      if (cursor_.is(".")) {
        if (!point()) return false;
      } else if (cursor_.is("eE")) {
        if (!exponent()) return false;
      } else if (cursor_.take("_")) {
        if (cursor_.take("._eE") || cursor_.at_end()) return false;
      } else if (cursor_.is(digits_)) {
        cursor_.take_all(digits_);
      } else {
        return !cursor_.at_word();
      }
    }
  }

 private:
  bool point() {
    cursor_.skip();
    if (had_point_) return false;
    had_point_ = true;
    return !cursor_.take("_.") && digits_ == kDecimal;
  }
  bool exponent() {
    cursor_.skip();
    if (had_exponent_) return false;
    had_exponent_ = true;
    cursor_.take("+-");
    return !cursor_.take("._eE") && !cursor_.at_end();
  }

  Cursor& cursor_;
  std::string_view digits_ = kDecimal;
  bool had_point_ = false;
  bool had_exponent_ = false;
};

// The units behind the first digits. Which units they are is not looked at.
bool scan_units(Cursor& cursor) {
  if (!cursor.take("smhdwy")) return false;
  cursor.take("s");  // of ms
  while (cursor.take(kDecimal)) {
    cursor.take_all(kDecimal);
    if (!cursor.take("smhdw")) return false;
    cursor.take("s");
  }
  if (!cursor.at_word()) return true;
  cursor.skip();
  return false;
}

// An underscore is between digits; behind 0x there may be one, too.
bool underscores_are_right(std::string_view text) {
  char before = '!';
  bool hexadecimal = false;
  if (text.size() >= 2 && text[0] == '0' && to_lower(text[1]) == 'x') {
    hexadecimal = true;
    before = '0';
    text.remove_prefix(2);
  }
  for (const char c : text) {
    if (is_digit(c) || (hexadecimal && hex_digit(c) >= 0)) {
      before = '0';
    } else if (c == '_') {
      if (before != '0') return false;
      before = '_';
    } else {
      if (before == '_') return false;
      before = '!';
    }
  }
  return before != '_';
}

// 12, 017 and 0x1F, without underscores; nothing if it is no integer of 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view digits) {
  int base = 10;
  if (digits.size() >= 2 && digits[0] == '0') {
    const bool hexadecimal = to_lower(digits[1]) == 'x';
    base = hexadecimal ? 16 : 8;
    digits.remove_prefix(hexadecimal ? 2 : 1);
  }
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// A number without its sign and underscores; nothing if it is none. Infinite: it is too large.
std::optional<double> parse_magnitude(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  const bool hexadecimal = digits.size() > 2 && digits[0] == '0' && to_lower(digits[1]) == 'x';
  if (hexadecimal) {
    digits.remove_prefix(2);
    if (digits.find_first_of("pP") == std::string_view::npos) return std::nullopt;
  }
  const char first = digits.front();  // std::from_chars would take a sign, and words
  if (first != '.' && (hexadecimal ? hex_digit(first) < 0 : !is_digit(first))) return std::nullopt;
  double value = 0;
  const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, format);
  if (error == std::errc::invalid_argument || stop != end) return std::nullopt;
  if (error == std::errc()) return value;
  // Too large, or so small that it is 0.
  const std::string whole = (hexadecimal ? "0x" : "") + std::string(digits);
  return std::strtod(whole.c_str(), nullptr);
}

struct Unit {
  std::string_view name;
  std::uint64_t ms;
};
// From big to small.
constexpr auto kUnits = std::to_array<Unit>({{"y", 365 * 86'400'000ULL},
                                             {"w", 7 * 86'400'000ULL},
                                             {"d", 86'400'000},
                                             {"h", 3'600'000},
                                             {"m", 60'000},
                                             {"s", 1000},
                                             {"ms", 1}});
constexpr std::uint64_t kNanosecondsMax = 1ULL << 63;
constexpr std::uint64_t kNanosecondsPerMs = 1'000'000;

}  // namespace

ScannedNumber scan_number(std::string_view text) {
  using enum ScannedNumber::Kind;
  Cursor cursor(text);
  if (NumberScan(cursor).run()) return {kNumber, cursor.at()};
  if (scan_units(cursor)) return {kDuration, cursor.at()};
  return {kNeither, cursor.at()};
}

Result<double> parse_number(std::string_view text) {
  if (equal_ignoring_case(text, "inf")) return std::numeric_limits<double>::infinity();
  if (equal_ignoring_case(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  if (underscores_are_right(text)) {
    std::string digits(text);
    std::erase(digits, '_');
    if (const auto integer = parse_integer(digits)) return static_cast<double>(*integer);
  }
  return parse_float(text);
}

Result<double> parse_float(std::string_view text) {
  const auto wrong = [text](std::string_view why) {
    return fail(Errc::kInvalidArgument,
                fmt::format("strconv.ParseFloat: parsing {}: {}", go_quoted(text), why));
  };
  if (equal_ignoring_case(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = text.starts_with('-');
  std::string digits(text.substr(negative || text.starts_with('+') ? 1 : 0));
  if (equal_ignoring_case(digits, "inf") || equal_ignoring_case(digits, "infinity")) {
    const double infinite = std::numeric_limits<double>::infinity();
    return negative ? -infinite : infinite;
  }
  if (!underscores_are_right(digits)) return wrong("invalid syntax");
  std::erase(digits, '_');
  const std::optional<double> value = parse_magnitude(digits);
  if (!value) return wrong("invalid syntax");
  if (std::isinf(*value)) return wrong("value out of range");
  return negative ? -*value : *value;
}

Result<std::int64_t> parse_duration(std::string_view text) {
  if (text == "0") return 0;
  if (text.empty()) return fail(Errc::kInvalidArgument, "empty duration string");
  const auto invalid = [text] {
    return fail(Errc::kInvalidArgument,
                fmt::format("not a valid duration string: {}", go_quoted(text)));
  };
  std::uint64_t nanoseconds = 0;
  const auto* next = kUnits.begin();  // the biggest unit that may follow
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t digits = count_digits(rest);
    std::uint64_t count = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + digits, count);
    if (digits == 0 || error != std::errc()) return invalid();
    rest.remove_prefix(digits);
    const std::size_t letters = std::min(rest.find_first_of(kDecimal), rest.size());
    if (letters == 0) return invalid();
    const std::string_view name = rest.substr(0, letters);
    rest.remove_prefix(letters);
    const auto* const unit = std::ranges::find(kUnits, name, &Unit::name);
    if (unit == kUnits.end()) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("unknown unit {} in duration {}", go_quoted(name), go_quoted(text)));
    }
    if (unit < next) return invalid();
    next = unit + 1;
    const std::uint64_t each = unit->ms * kNanosecondsPerMs;
    if (count > kNanosecondsMax / each) {
      return fail(Errc::kInvalidArgument, "duration out of range");
    }
    nanoseconds += count * each;
    if (nanoseconds >= kNanosecondsMax) {
      return fail(Errc::kInvalidArgument, "duration out of range");
    }
  }
  return static_cast<std::int64_t>(nanoseconds / kNanosecondsPerMs);
}

std::string duration_text(std::int64_t ms) {
  if (ms == 0) return "0s";
  std::string text = ms < 0 ? "-" : "";
  auto rest = ms < 0 ? -static_cast<std::uint64_t>(ms) : static_cast<std::uint64_t>(ms);
  for (const Unit& unit : kUnits) {
    const bool only_exact = unit.name == "y" || unit.name == "w";
    if (rest < unit.ms || (only_exact && rest % unit.ms != 0)) continue;
    text += fmt::format("{}{}", rest / unit.ms, unit.name);
    rest %= unit.ms;
  }
  return text;
}

std::int64_t duration_ms(double seconds) {
  constexpr double kMsMax = static_cast<double>(kNanosecondsMax / kNanosecondsPerMs);
  // Nanoseconds first: 0.003 s is 3 ms, though 0.003 * 1000 could be less.
  const double ms = std::trunc(std::round(seconds * 1e9) / 1e6);
  return static_cast<std::int64_t>(std::clamp(ms, -kMsMax, kMsMax));
}

}  // namespace halite::query::promql
