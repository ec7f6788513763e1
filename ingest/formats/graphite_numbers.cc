#include "ingest/formats/graphite_numbers.h"

#include <fmt/format.h>

#include "ingest/formats/number_text.h"
#include "ingest/formats/shown.h"

namespace halite::ingest {
namespace {

std::expected<TimestampMs, std::string> time_of_arrival(std::string_view text,
                                                        std::optional<TimestampMs> now) {
  if (now) return *now;
  return std::unexpected(
      fmt::format("the time {} stands for the time of arrival, which is not known here", text));
}

}  // namespace

std::expected<ValueBits, std::string> read_graphite_value(std::string_view text) {
  if (const auto bits = read_go_double(text)) {
    if (auto wrong = graphite_nan(*bits)) return std::unexpected(*std::move(wrong));
    return *bits;
  }
  const std::string_view word =
      text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
  if (equal_ignoring_case(word, "nan")) return std::unexpected(*graphite_nan(kPlainNan));
  return std::unexpected(shown(text) + " is no value");
}

std::expected<TimestampMs, std::string> checked_graphite_time(std::string_view text,
                                                              std::optional<TimestampMs> now) {
  if (text == "N") return time_of_arrival(text, now);
  double seconds = 0;
  // Carbon cuts the fraction off before it compares.
  if (text.starts_with('-') && read_double(text, seconds) && std::trunc(seconds) == -1) {
    return time_of_arrival(text, now);
  }
  return read_seconds(text);
}

std::expected<TimestampMs, std::string> graphite_time(double seconds,
                                                      std::optional<TimestampMs> now) {
  constexpr double kCountMax = 9.0e18;  // fits into 64 bits
  if (std::trunc(seconds) == -1) return time_of_arrival("-1", now);
  if (!(std::abs(seconds) < kCountMax)) {
    return std::unexpected(fmt::format("{} is not a time", seconds));
  }
  return time_of_seconds(seconds);
}

}  // namespace halite::ingest
