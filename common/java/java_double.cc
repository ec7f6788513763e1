#include "common/java/java_double.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

namespace halite {

namespace {

char* write(char* to, std::string_view text) { return std::ranges::copy(text, to).out; }

// For a value from 0.001 to under 10^7 with at most four decimals, as most measurements have;
// nullptr if it has more. It needs no search for the shortest digits: there are at most eleven, and
// decimals of up to fifteen digits map to distinct doubles.
char* write_few_decimals(char* to, double value) {
  const double scaled = value * 1e4;
  const double half_up = scaled + 0.5;  // the check below detects wrong rounding
  const auto number = static_cast<std::int64_t>(half_up);
  // A larger distance than a product's error needs no division.
  if (std::abs(scaled - static_cast<double>(number)) > 1e-3) return nullptr;
  if (static_cast<double>(number) / 1e4 != value) return nullptr;
  const fmt::format_int whole(number / 10'000);
  to = write(to, {whole.data(), whole.size()});
  auto decimals = static_cast<int>(number % 10'000);
  *to++ = '.';
  *to++ = static_cast<char>('0' + decimals / 1000);
  for (int unit = 100; unit > 0 && (decimals %= unit * 10) != 0; unit /= 10) {
    *to++ = static_cast<char>('0' + decimals / unit);
  }
  return to;
}

// For a value from 0.001 to under 10^7 that is not whole. fmt has no public interface to Dragonbox,
// which finds the shortest digits twice as fast as libstdc++ 12's Ryu.
char* write_decimals(char* to, double value) {
  const auto decimal = fmt::detail::dragonbox::to_decimal(value);
  const fmt::format_int digits(decimal.significand);
  const auto count = static_cast<int>(digits.size());
  const int point = count + decimal.exponent;  // number of digits before it
  if (point <= 0) {
    to = write(to, "0.");
    to = std::fill_n(to, -point, '0');
    return write(to, {digits.data(), digits.size()});
  }
  to = std::copy_n(digits.data(), point, to);
  *to++ = '.';
  return std::copy(digits.data() + point, digits.data() + count, to);
}

template <class Number>
char* write_java_number(char* to, Number value) {
  if (std::isnan(value)) return write(to, "NaN");
  if (std::signbit(value)) *to++ = '-';
  value = std::fabs(value);
  if (std::isinf(value)) return write(to, "Infinity");
  if (value == 0) return write(to, "0.0");
  char* const begin = to;
  char* const end = to + kJavaDoubleBytesMax - 1;
  if (value >= static_cast<Number>(1e-3) && value < static_cast<Number>(1e7)) {
    if constexpr (std::is_same_v<Number, double>) {
      if (char* const written = write_few_decimals(to, value)) return written;
      return write_decimals(to, value);
    }
    to = std::to_chars(to, end, value, std::chars_format::fixed).ptr;
    return std::string_view(begin, to).contains('.') ? to : write(to, ".0");
  }
  std::array<char, kJavaDoubleBytesMax> buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::scientific)
                           .ptr;
  const std::string_view text(buffer.data(), written);  // "1e+07", "1.25e-08"
  const std::size_t e = text.find('e');
  const std::string_view digits = text.substr(0, e);
  to = write(to, digits);
  if (!digits.contains('.')) to = write(to, ".0");
  *to++ = 'E';
  std::string_view exponent = text.substr(e + 1);
  if (exponent.front() == '-') *to++ = '-';
  exponent.remove_prefix(1);
  if (exponent.size() == 2 && exponent.front() == '0') exponent.remove_prefix(1);
  return write(to, exponent);
}

template <class Number>
void append_java_number(std::string& to, Number value) {
  std::array<char, kJavaDoubleBytesMax> buffer;
  to.append(buffer.data(), write_java_number(buffer.data(), value));
}

}  // namespace

char* write_java_double(char* to, double value) { return write_java_number(to, value); }

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
