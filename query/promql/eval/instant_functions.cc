#include "query/promql/eval/instant_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace halite::query::promql {
namespace {

using InstantParameters = std::span<const double>;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Go's math.Min and math.Max: an infinity wins over NaN, -0 is less than 0.
double go_min(double a, double b) {
  if (a == -kNoLimit || b == -kNoLimit) return -kNoLimit;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double go_max(double a, double b) { return -go_min(-a, -b); }

double clamp_value(double value, double low, double high) {
  if (high < low) return kAbsent;
  return go_max(low, go_min(high, value));
}

double round_to(double value, InstantParameters parameters) {
  const double inverse = 1.0 / (parameters.empty() ? 1.0 : parameters[0]);
  return std::floor(value * inverse + 0.5) / inverse;
}

double sign_of(double value, InstantParameters) {
  if (value < 0) return -1;
  if (value > 0) return 1;
  return value;
}

constexpr std::uint64_t kSecondsOfDay = 86400;
// The Gregorian calendar repeats itself after 400 years. Years begin in March here: a leap day is
// then the last one.
constexpr std::uint64_t kEraYears = 400;
constexpr std::uint64_t kEraDays = 146097;
// Go counts seconds, modulo 2^64, from March of this year before year 0. So do we: the dates of
// times that are out of range are then the same.
constexpr std::uint64_t kFirstYear = 292'277'022'400;
constexpr std::uint64_t kDaysTo1970 = 719468;  // since March of year 0
constexpr std::uint64_t kSecondsTo1970 =
    (kFirstYear / kEraYears * kEraDays + kDaysTo1970) * kSecondsOfDay;

// The date and time in UTC.
struct Moment {
  std::int64_t year;
  unsigned month;        // 1 to 12
  unsigned day;          // 1 to 31
  unsigned day_of_year;  // 1 to 366
  unsigned day_of_week;  // 0 is Sunday
  unsigned second_of_day;
};

bool is_leap_year(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

unsigned days_of_month(std::int64_t year, unsigned month) {
  static constexpr std::array<unsigned, 12> kDays = {31, 28, 31, 30, 31, 30,
                                                     31, 31, 30, 31, 30, 31};
  return kDays[month - 1] + (month == 2 && is_leap_year(year) ? 1 : 0);
}

// Times that are no int64, and NaN, are the least int64, as on x86-64.
std::int64_t whole_seconds(double value) {
  constexpr double kEnd = 0x1p63;
  if (value >= -kEnd && value < kEnd) return static_cast<std::int64_t>(value);
  return std::numeric_limits<std::int64_t>::min();
}

Moment moment_of(double value) {
  const std::uint64_t seconds = static_cast<std::uint64_t>(whole_seconds(value)) + kSecondsTo1970;
  const std::uint64_t days = seconds / kSecondsOfDay;
  const auto day_of_era = static_cast<unsigned>(days % kEraDays);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned from_march =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned months = (5 * from_march + 2) / 153;  // since March
  const bool next_year = months >= 10;
  Moment moment;
  moment.year = static_cast<std::int64_t>(days / kEraDays * kEraYears + year_of_era) -
                static_cast<std::int64_t>(kFirstYear) + (next_year ? 1 : 0);
  moment.month = next_year ? months - 9 : months + 3;
  moment.day = from_march - (153 * months + 2) / 5 + 1;
  moment.day_of_year =
      next_year ? from_march - 305 : from_march + (is_leap_year(moment.year) ? 61 : 60);
  moment.day_of_week = static_cast<unsigned>((days + 3) % 7);  // March 1 of year 0: a Wednesday
  moment.second_of_day = static_cast<unsigned>(seconds % kSecondsOfDay);
  return moment;
}

template <double (*function)(double)>
double apply(double value, InstantParameters) {
  return function(value);
}

constexpr auto kInstantFunctions = std::to_array<InstantFunction>({
    {"abs", apply<std::abs>},
    {"acos", apply<std::acos>},
    {"acosh", apply<std::acosh>},
    {"asin", apply<std::asin>},
    {"asinh", apply<std::asinh>},
    {"atan", apply<std::atan>},
    {"atanh", apply<std::atanh>},
    {"ceil", apply<std::ceil>},
    {"clamp", [](double v, InstantParameters p) { return clamp_value(v, p[0], p[1]); }},
    {"clamp_max", [](double v, InstantParameters p) { return clamp_value(v, -kNoLimit, p[0]); }},
    {"clamp_min", [](double v, InstantParameters p) { return clamp_value(v, p[0], kNoLimit); }},
    {"cos", apply<std::cos>},
    {"cosh", apply<std::cosh>},
    {"day_of_month", [](double v, InstantParameters) -> double { return moment_of(v).day; }},
    {"day_of_week", [](double v, InstantParameters) -> double { return moment_of(v).day_of_week; }},
    {"day_of_year", [](double v, InstantParameters) -> double { return moment_of(v).day_of_year; }},
    {"days_in_month",
     [](double v, InstantParameters) -> double {
       const Moment moment = moment_of(v);
       return days_of_month(moment.year, moment.month);
     }},
    {"deg", [](double v, InstantParameters) { return v * 180 / std::numbers::pi; }},
    {"exp", apply<std::exp>},
    {"floor", apply<std::floor>},
    {"hour",
     [](double v, InstantParameters) -> double { return moment_of(v).second_of_day / 3600; }},
    {"ln", apply<std::log>},
    {"log10", apply<std::log10>},
    {"log2", apply<std::log2>},
    {"minute",
     [](double v, InstantParameters) -> double { return moment_of(v).second_of_day / 60 % 60; }},
    {"month", [](double v, InstantParameters) -> double { return moment_of(v).month; }},
    {"rad", [](double v, InstantParameters) { return v * std::numbers::pi / 180; }},
    {"round", round_to},
    {"sgn", sign_of},
    {"sin", apply<std::sin>},
    {"sinh", apply<std::sinh>},
    {"sqrt", apply<std::sqrt>},
    {"tan", apply<std::tan>},
    {"tanh", apply<std::tanh>},
    {"year",
     [](double v, InstantParameters) -> double { return static_cast<double>(moment_of(v).year); }},
});

}  // namespace

const InstantFunction* find_instant_function(std::string_view name) {
  const auto found = std::ranges::find(kInstantFunctions, name, &InstantFunction::name);
  return found == kInstantFunctions.end() ? nullptr : &*found;
}

}  // namespace halite::query::promql
