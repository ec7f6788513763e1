#include "ingest/rules/java_number.h"

#include <locale.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"

namespace halite::ingest {
namespace {

std::size_t utf16_length(std::string_view text) {
  if (is_ascii(text)) return text.size();
  std::size_t units = 0;
  each_utf16_unit(text, [&](char16_t) { ++units; });
  return units;
}

std::unexpected<std::string> invalid_character(std::string_view text, std::string_view from) {
  std::string character;
  bool first = true;
  each_utf16_unit(from, [&](char16_t unit) {
    if (first) append_utf8(character, unit);
    first = false;
  });
  return std::unexpected(fmt::format("Invalid character '{}' in {}", character, text));
}

std::unexpected<std::string> not_a_number(std::string_view trimmed) {
  return std::unexpected(fmt::format("For input string: \"{}\"", trimmed));
}

// Fixes '.' as the decimal point.
locale_t c_locale() {
  static const locale_t kLocale = newlocale(LC_ALL_MASK, "C", nullptr);
  return kLocale;
}

// strtod distinguishes overflow from underflow and reads hexadecimal.
double slow_double(std::string_view text) {
  const std::string terminated(text);
  return strtod_l(terminated.c_str(), nullptr, c_locale());
}

// The text after an exponent; nullopt if the exponent has no digits.
std::optional<std::string_view> after_exponent(std::string_view text) {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  const std::size_t digits = count_digits(text);
  if (digits == 0) return std::nullopt;
  return text.substr(digits);
}

bool is_end(std::string_view rest) {
  if (rest.empty()) return true;
  return rest.size() == 1 && (rest[0] == 'f' || rest[0] == 'F' || rest[0] == 'd' || rest[0] == 'D');
}

// `body` has no sign, but includes "0x". True if the number is all of it except a suffix.
bool is_hex_number(std::string_view body) {
  body.remove_prefix(2);
  std::size_t digits = 0;
  bool point = false;
  while (!body.empty() && (hex_digit(body.front()) >= 0 || (body.front() == '.' && !point))) {
    if (body.front() == '.') {
      point = true;
    } else {
      ++digits;
    }
    body.remove_prefix(1);
  }
  // "0x." has no digit and is invalid; "0x1.p3" is valid.
  if (digits == 0) return false;
  if (body.empty() || (body.front() != 'p' && body.front() != 'P')) return false;
  const auto rest = after_exponent(body.substr(1));
  return rest && is_end(*rest);
}

enum class Shape : std::uint8_t { kNumber, kNotANumber, kTwoPoints };

// `body` has no sign. If it is a number, `length` is its length without a suffix.
Shape decimal_shape(std::string_view body, std::size_t& length) {
  std::size_t digits = 0;
  bool point = false;
  std::size_t at = 0;
  for (; at < body.size() && (is_digit(body[at]) || body[at] == '.'); ++at) {
    if (body[at] != '.') {
      ++digits;
    } else if (point) {
      return Shape::kTwoPoints;
    } else {
      point = true;
    }
  }
  if (digits == 0) return Shape::kNotANumber;
  std::string_view rest = body.substr(at);
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
    const auto after = after_exponent(rest.substr(1));
    if (!after) return Shape::kNotANumber;
    rest = *after;
  }
  if (!is_end(rest)) return Shape::kNotANumber;
  length = body.size() - rest.size();
  return Shape::kNumber;
}

double decimal_value(std::string_view body) {
  double value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error == std::errc() && end == body.data() + body.size()) return value;
  return slow_double(body);
}

// Common values: an optional '-', then up to 18 digits with at most one '.' among them. If false,
// the text may still be valid.
bool parse_value_fast(std::string_view text, Number& number) {
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  // Integers up to here are exact doubles, so that one division rounds only once.
  constexpr std::uint64_t kExactMax = std::uint64_t{1} << 53;
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const digits_begin = at;
  std::uint64_t magnitude = 0;
  for (; at != end && is_digit(*at); ++at) {
    magnitude = (magnitude * 10) + static_cast<std::uint64_t>(*at - '0');
  }
  auto digits = static_cast<std::size_t>(at - digits_begin);
  if (at == end) {
    if (digits == 0 || digits > 18) return false;
    number = {.bits = negative ? 0 - magnitude : magnitude, .is_float = false};
    return true;
  }
  if (*at != '.') return false;
  const char* const fraction_begin = ++at;
  for (; at != end && is_digit(*at); ++at) {
    magnitude = (magnitude * 10) + static_cast<std::uint64_t>(*at - '0');
  }
  const auto fraction = static_cast<std::size_t>(at - fraction_begin);
  digits += fraction;
  if (at != end || digits == 0 || digits > 18 || magnitude > kExactMax) return false;
  const double value = static_cast<double>(magnitude) / kPowers[fraction];
  number = {.bits = double_bits(negative ? -value : value), .is_float = true};
  return true;
}

}  // namespace

NumberOr<std::int64_t> parse_java_long(std::string_view text) {
  if (text.empty()) return std::unexpected("Empty string");
  const bool sign = text.front() == '+' || text.front() == '-';
  const bool negative = text.front() == '-';
  if (sign && text.size() == 1) {
    return std::unexpected(fmt::format("Just a sign, no value: {}", text));
  }
  const std::size_t length_max = sign ? 20 : 19;
  if (text.size() > length_max && utf16_length(text) > length_max) {
    return std::unexpected(fmt::format("Value too long: {}", text));
  }
  std::uint64_t magnitude = 0;  // 19 digits fit
  for (std::size_t i = sign ? 1 : 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) return invalid_character(text, text.substr(i));
    magnitude = (magnitude * 10) + static_cast<std::uint64_t>(text[i] - '0');
  }
  const std::uint64_t magnitude_max =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
  if (magnitude > magnitude_max) return std::unexpected(fmt::format("Overflow in {}", text));
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

NumberOr<double> parse_java_double(std::string_view text) {
  const std::string_view trimmed = java_trim(text);
  if (trimmed.empty()) return std::unexpected("empty String");
  std::string_view body = trimmed;
  const bool negative = body.front() == '-';
  if (negative || body.front() == '+') body.remove_prefix(1);
  double value = 0;
  if (body == "NaN") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (body == "Infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (body.starts_with("0x") || body.starts_with("0X")) {
    if (!is_hex_number(body)) return not_a_number(trimmed);
    value = slow_double(body);
  } else {
    std::size_t length = 0;
    const Shape shape = decimal_shape(body, length);
    if (shape == Shape::kTwoPoints) return std::unexpected("multiple points");
    if (shape == Shape::kNotANumber) return not_a_number(trimmed);
    value = decimal_value(body.substr(0, length));
  }
  return negative ? -value : value;
}

NumberOr<float> parse_java_float(std::string_view text) {
  const auto checked = parse_java_double(text);
  if (!checked) return std::unexpected(checked.error());
  // strtof reads the whole number except a suffix.
  const std::string terminated(java_trim(text));
  return strtof_l(terminated.c_str(), nullptr, c_locale());
}

bool looks_like_integer(std::string_view text) {
  return text.find_first_of(".eE") == std::string_view::npos;
}

NumberOr<Number> parse_value(std::string_view text) {
  if (looks_like_integer(text)) {
    const auto value = parse_java_long(text);
    if (!value) return std::unexpected(value.error());
    return Number{.bits = integer_bits(*value), .is_float = false};
  }
  const auto value = parse_java_double(text);
  if (!value) return std::unexpected(value.error());
  return Number{.bits = double_bits(*value), .is_float = true};
}

bool parse_finite_value(std::string_view text, Number& number) {
  if (parse_value_fast(text, number)) return true;
  const auto parsed = parse_value(text);
  if (!parsed || (parsed->is_float && !std::isfinite(as_double(parsed->bits)))) return false;
  number = *parsed;
  return true;
}

}  // namespace halite::ingest
