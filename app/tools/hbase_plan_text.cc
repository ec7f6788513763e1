// The plan as a table and as JSON.
#include <array>
#include <cmath>
#include <iterator>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "app/tools/hbase_plan.h"

namespace halite::app {
namespace {

constexpr double kExactMax = 9007199254740992.0;  // doubles below are exact integers

// "12,345,678"
std::string with_commas(double value) {
  std::string text = fmt::format("{:.0f}", value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string binary_size_text(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, bytes < 100 ? 1 : 0, kUnits[unit]);
}

std::string value_text(const PlanFigure& figure) {
  if (figure.unit == "bytes" && figure.value >= 1024) return binary_size_text(figure.value);
  const bool small = figure.value < 100 && figure.value != std::floor(figure.value);
  return (small ? fmt::format("{:.1f}", figure.value) : with_commas(figure.value)) +
         (figure.unit == "bytes" || figure.unit == "s" ? " " + figure.unit : "");
}

}  // namespace

std::string plan_table_text(const HBasePlan& plan) {
  std::string text;
  for (const PlanFigure& figure : plan.figures) {
    fmt::format_to(std::back_inserter(text), "{:<49}{:>14}  {}\n", figure.name, value_text(figure),
                   figure.source);
  }
  for (const std::string& warning : plan.warnings) {
    fmt::format_to(std::back_inserter(text), "warning: {}\n", warning);
  }
  return text;
}

std::string plan_json(const HBasePlan& plan) {
  boost::json::object object;
  boost::json::object& figures = object["figures"].emplace_object();
  for (const PlanFigure& figure : plan.figures) {
    boost::json::object& one = figures[figure.id].emplace_object();
    const bool whole =
        std::abs(figure.value) < kExactMax && figure.value == std::floor(figure.value);
    if (whole) one["value"] = static_cast<std::int64_t>(figure.value);
    if (!whole) one["value"] = figure.value;
    one["unit"] = figure.unit;
    one["source"] = figure.source;
  }
  boost::json::array& warnings = object["warnings"].emplace_array();
  for (const std::string& warning : plan.warnings) warnings.emplace_back(warning);
  return boost::json::serialize(object) + "\n";
}

Result<std::string> show_hbase_plan(const HBasePlanFlags& flags) {
  TRY(const HBasePlan plan, plan_hbase(flags));
  return flags.json ? plan_json(plan) : plan_table_text(plan);
}

}  // namespace halite::app
