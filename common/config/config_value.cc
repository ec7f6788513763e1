#include "common/config/config_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// Largest first: formatting tries them in this order.
constexpr std::array<Unit, 9> kByteUnits = {{{"TiB", 1ll << 40},
                                             {"GiB", 1ll << 30},
                                             {"MiB", 1ll << 20},
                                             {"KiB", 1ll << 10},
                                             {"TB", 1'000'000'000'000},
                                             {"GB", 1'000'000'000},
                                             {"MB", 1'000'000},
                                             {"kB", 1000},
                                             {"B", 1}}};
constexpr std::array<Unit, 6> kTimeUnits = {{{"w", 7ll * 86'400'000},
                                             {"d", 86'400'000},
                                             {"h", 3'600'000},
                                             {"m", 60'000},
                                             {"s", 1000},
                                             {"ms", 1}}};

// Removes a whole number from the front of the text.
std::optional<std::int64_t> leading_number(std::string_view& text) {
  std::int64_t number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text = trim(text.substr(static_cast<std::size_t>(end - text.data())), " ");
  return number;
}

std::optional<std::int64_t> with_unit(std::string_view text, std::span<const Unit> units) {
  std::string_view rest = trim(text, " ");
  const std::optional<std::int64_t> number = leading_number(rest);
  if (!number || *number < 0) return std::nullopt;
  if (rest.empty()) return number;
  for (const Unit& unit : units) {
    if (!equal_ignoring_case(rest, unit.name)) continue;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(*number, unit.factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

}  // namespace

Result<std::int64_t> parse_count(std::string_view text) {
  std::string_view rest = trim(text, " ");
  const std::optional<std::int64_t> number = leading_number(rest);
  if (number && rest.empty()) return *number;
  return fail(Errc::kInvalidArgument, fmt::format("must be a whole number, not \"{}\"", text));
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  if (const std::optional<std::int64_t> bytes = with_unit(text, kByteUnits)) return *bytes;
  return fail(Errc::kInvalidArgument,
              fmt::format("must be a size such as \"32 MiB\", not \"{}\"", text));
}

Result<std::int64_t> parse_duration_ms(std::string_view text) {
  if (const std::optional<std::int64_t> ms = with_unit(text, kTimeUnits)) return *ms;
  return fail(Errc::kInvalidArgument,
              fmt::format("must be a duration such as \"10s\" or \"1d\", not \"{}\"", text));
}

Result<bool> parse_flag(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "on", "1"};
  static constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "off", "0"};
  const std::string_view word = trim(text, " ");
  const auto is_word = [word](std::string_view other) { return equal_ignoring_case(word, other); };
  if (std::ranges::any_of(kTrue, is_word)) return true;
  if (std::ranges::any_of(kFalse, is_word)) return false;
  return fail(Errc::kInvalidArgument, fmt::format("must be true or false, not \"{}\"", text));
}

std::string bytes_text(std::int64_t bytes) {
  for (const Unit& unit : std::span(kByteUnits).first(4)) {
    if (bytes != 0 && bytes % unit.factor == 0) {
      return fmt::format("{} {}", bytes / unit.factor, unit.name);
    }
  }
  return fmt::format("{} B", bytes);
}

std::string duration_text(std::int64_t ms) {
  for (const Unit& unit : std::span(kTimeUnits).subspan(1)) {  // days are clearer than weeks
    if (ms != 0 && ms % unit.factor == 0) return fmt::format("{}{}", ms / unit.factor, unit.name);
  }
  return fmt::format("{}ms", ms);
}

}  // namespace halite
