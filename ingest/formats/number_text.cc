#include "ingest/formats/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "ingest/rules/java_number.h"

namespace halite::ingest {

bool read_double(std::string_view text, double& value) {
  std::string_view body = text;
  if (body.starts_with('+')) {
    body.remove_prefix(1);
    text = body;
  } else if (body.starts_with('-')) {
    body.remove_prefix(1);
  }
  // std::from_chars would read "inf" and "nan".
  if (body.empty() || (!is_digit(body.front()) && body.front() != '.')) return false;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end) return false;
  if (error == std::errc()) return true;
  const auto other = parse_java_double(text);  // tells too great from too small
  if (!other || !std::isfinite(*other)) return false;
  value = *other;
  return true;
}

std::optional<ValueBits> read_go_double(std::string_view text) {
  double value = 0;
  if (read_double(text, value)) return double_bits(value);
  std::string_view word = text;
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (equal_ignoring_case(word, "inf") || equal_ignoring_case(word, "infinity")) {
    return double_bits(negative ? -kInfinity : kInfinity);
  }
  if (word.size() == text.size() && equal_ignoring_case(word, "nan")) return kPlainNan;
  return std::nullopt;
}

void append_double(std::string& to, double value, bool point) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
  to += written;
  if (point && written.find_first_of(".e") == std::string_view::npos) to += ".0";
}

std::optional<std::string> nan_without_text(PointBits point) {
  if ((point.flags & kFloat) == 0 || !std::isnan(as_double(point.value))) return std::nullopt;
  if (point.value == kPlainNan) return std::nullopt;
  if (point.value == kStaleMarker) return "the format has no staleness markers";
  return fmt::format("the format has one NaN, not the one of the bits {:016X}", point.value);
}

void append_value(std::string& to, PointBits point, bool point_in_double,
                  const SpecialNumbers& special) {
  if ((point.flags & kFloat) == 0) {
    append_integer(to, as_integer(point.value));
    return;
  }
  const double value = as_double(point.value);
  if (std::isnan(value)) {
    to += special.nan;
  } else if (std::isinf(value)) {
    to += value < 0 ? special.minus_infinity : special.infinity;
  } else {
    append_double(to, value, point_in_double);
  }
}

void append_integer(std::string& to, std::int64_t value) {
  std::array<char, 24> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  to.append(text.data(), end);
}

}  // namespace halite::ingest
