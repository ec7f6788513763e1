#include "common/java_double.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace halite {

namespace {

template <class Number>
void append_java_number(std::string& to, Number value) {
  if (std::isnan(value)) {
    to += "NaN";
    return;
  }
  if (std::signbit(value)) to += '-';
  value = std::fabs(value);
  if (std::isinf(value)) {
    to += "Infinity";
    return;
  }
  if (value == 0) {
    to += "0.0";
    return;
  }
  std::array<char, 32> buffer;
  if (value >= static_cast<Number>(1e-3) && value < static_cast<Number>(1e7)) {
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed)
            .ptr;
    const std::string_view text(buffer.data(), end);
    to += text;
    if (!text.contains('.')) to += ".0";
    return;
  }
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view text(buffer.data(), end);  // "1e+07", "1.25e-08"
  const std::size_t e = text.find('e');
  const std::string_view digits = text.substr(0, e);
  to += digits;
  if (!digits.contains('.')) to += ".0";
  to += 'E';
  std::string_view exponent = text.substr(e + 1);
  if (exponent.front() == '-') to += '-';
  exponent.remove_prefix(1);
  if (exponent.size() == 2 && exponent.front() == '0') exponent.remove_prefix(1);
  to += exponent;
}

}  // namespace

void append_java_double(std::string& to, double value) { append_java_number(to, value); }

std::string java_float(float value) {
  std::string text;
  append_java_number(text, value);
  return text;
}

std::string java_double(double value) {
  std::string text;
  append_java_double(text, value);
  return text;
}

}  // namespace halite
