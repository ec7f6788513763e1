#include "query/promql/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace halite::query::promql {
namespace {

constexpr int kExponentMin = -4;  // from which %g writes no exponent
constexpr int kExponentEnd = 6;

struct Decimal {
  explicit Decimal(double value) {
    std::array<char, 32> text;
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
    scientific.assign(text.data(), end);  // [-]d[.d..]e[+-]dd
    negative = scientific.front() == '-';
    const std::size_t e = scientific.find('e');
    for (const char c : std::string_view(scientific).substr(negative, e - negative)) {
      if (c != '.') digits += c;
    }
    const char* from = scientific.data() + e + 1 + (scientific[e + 1] == '+');
    std::from_chars(from, scientific.data() + scientific.size(), exponent);
  }

  std::string scientific;
  std::string digits;
  int exponent = 0;  // of the first digit
  bool negative = false;
};

std::string_view not_finite_text(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}

// std::chars_format::fixed writes all digits of large numbers, which are more than needed.
std::string without_exponent(const Decimal& number) {
  std::string text = number.negative ? "-" : "";
  if (number.exponent < 0) {
    text += "0.";
    text.append(static_cast<std::size_t>(-number.exponent - 1), '0').append(number.digits);
    return text;
  }
  const auto whole = static_cast<std::size_t>(number.exponent) + 1;
  if (whole >= number.digits.size()) {
    text += number.digits;
    text.append(whole - number.digits.size(), '0');
    return text;
  }
  return text.append(number.digits, 0, whole).append(".").append(number.digits, whole);
}

}  // namespace

std::string general_text(double value) {
  if (!std::isfinite(value)) return std::string(not_finite_text(value));
  const Decimal number(value);
  const bool plain = number.exponent >= kExponentMin && number.exponent < kExponentEnd;
  return plain ? without_exponent(number) : number.scientific;
}

std::string fixed_text(double value) {
  if (!std::isfinite(value)) return std::string(not_finite_text(value));
  return without_exponent(Decimal(value));
}

std::string rounded_text(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : general_text(value);
}

std::string six_decimals(double value) {
  return std::isfinite(value) ? fmt::format("{:f}", value) : general_text(value);
}

}  // namespace halite::query::promql
