#include "ingest/otlp/decimal_text.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace halite::ingest {

void append_decimal(std::string& to, double value) {
  std::array<char, 32> text;
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
  // [-]d[.d..]e[+-]dd
  std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
  if (written.front() == '-') {
    to += '-';
    written.remove_prefix(1);
  }
  const std::size_t e = written.find('e');
  std::string_view exponent = written.substr(e + 1);
  const bool small = exponent.front() == '-';
  exponent.remove_prefix(1);
  std::size_t shift = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), shift);
  std::string digits(1, written.front());
  if (e > 2) digits += written.substr(2, e - 2);
  if (small) {
    to += "0.";
    to.append(shift - 1, '0').append(digits);
  } else if (shift + 1 >= digits.size()) {
    to += digits;
    to.append(shift + 1 - digits.size(), '0');
  } else {
    to.append(digits, 0, shift + 1).append(".").append(digits, shift + 1);
  }
}

}  // namespace halite::ingest
