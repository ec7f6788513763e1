#include "storage/views/view_rules.h"

#include <algorithm>
#include <utility>

#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "common/config/config_value.h"
#include "common/json/rule_fields.h"
#include "common/units.h"

namespace halite::storage {
namespace {

namespace json = boost::json;

constexpr std::size_t kViewsMax = 1000;
constexpr std::size_t kNameBytesMax = 128;
constexpr std::int64_t kDayOfYear = 365;
constexpr std::string_view kPercentiles[] = {"p50", "p75", "p90", "p95", "p99", "p999"};

bool is_name(std::string_view name) {
  return name.size() <= kNameBytesMax && std::ranges::all_of(name, [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.';
         });
}

Result<std::int64_t> parse_interval(std::string_view text) {
  const Result<std::int64_t> length = parse_duration_ms(text);
  const bool fits = length && *length >= 1000 &&
                    (kHourMs % *length == 0 || (*length % kHourMs == 0 && kDayMs % *length == 0));
  if (fits) return *length;
  return fail(Errc::kInvalidArgument,
              fmt::format("the interval \"{}\" must divide an hour, or be hours that divide a day, "
                          "such as 1m, 5m, 1h or 1d",
                          text));
}

// As a duration, and also years.
Result<std::int64_t> parse_keep(std::string_view text) {
  constexpr std::int64_t kYearsMax = 1000;
  if (text.ends_with('y')) {
    const Result<std::int64_t> years = parse_count(text.substr(0, text.size() - 1));
    if (years && *years > 0 && *years <= kYearsMax) return *years * kDayOfYear * kDayMs;
  } else if (const Result<std::int64_t> kept = parse_duration_ms(text); kept && *kept >= 0) {
    return *kept;
  }
  return fail(Errc::kInvalidArgument,
              fmt::format("keep \"{}\" must be a duration such as 90d or 2y, or 0 for ever", text));
}

Result<void> parse_functions(const std::vector<std::string>& names, ViewRule& rule) {
  ViewFunctions& functions = rule.functions;
  for (const std::string& name : names) {
    if (name == "sum") {
      functions.sum = true;
    } else if (name == "min") {
      functions.min = true;
    } else if (name == "max") {
      functions.max = true;
    } else if (std::ranges::find(kPercentiles, name) != std::end(kPercentiles)) {
      functions.sketch = true;
      if (std::ranges::find(rule.percentiles, name) == rule.percentiles.end()) {
        rule.percentiles.push_back(name);
      }
    } else if (name != "count") {
      return fail(Errc::kInvalidArgument,
                  fmt::format("unknown function \"{}\"; the functions are sum, count, min, max, {}",
                              name, fmt::join(kPercentiles, ", ")));
    }
  }
  if (names.empty()) return fail(Errc::kInvalidArgument, "functions must name at least one");
  return {};
}

Result<ViewRule> parse_rule(const json::value& value) {
  constexpr std::string_view kKeys[] = {"name",      "metrics",  "interval",
                                        "functions", "group_by", "keep"};
  TRY(const json::object* const object, rule_object(value, kKeys));
  ViewRule rule;
  TRY(rule.name, rule_text(*object, "name"));
  if (!is_name(rule.name) || rule.name == "." || rule.name == "..") {
    return fail(Errc::kInvalidArgument,
                fmt::format("the name \"{}\" must be at most {} letters, digits, '-', '_' and '.'",
                            rule.name, kNameBytesMax));
  }
  TRY(rule.metrics, rule_metrics(*object));
  TRY(const std::string interval, rule_text(*object, "interval"));
  TRY(rule.interval_ms, parse_interval(interval));
  TRY(const std::vector<std::string> functions, rule_texts(*object, "functions"));
  TRY_VOID(parse_functions(functions, rule));
  if (object->contains("group_by")) {
    TRY(rule.group_by, rule_texts(*object, "group_by"));
    std::ranges::sort(*rule.group_by);
    const auto twice = std::ranges::unique(*rule.group_by);
    rule.group_by->erase(twice.begin(), twice.end());
  }
  if (object->contains("keep")) {
    TRY(const std::string keep, rule_text(*object, "keep"));
    TRY(rule.keep_ms, parse_keep(keep));
  }
  return rule;
}

}  // namespace

bool ViewRule::covers(std::string_view metric) const { return covers_metric(metrics, metric); }

std::int64_t ViewRule::unit_ms() const { return std::max(interval_ms, kHourMs); }

std::string ViewRule::definition() const {
  std::string text = fmt::format("{} ms:{}{}{}{}", interval_ms, functions.sum ? " sum" : "",
                                 functions.min ? " min" : "", functions.max ? " max" : "",
                                 functions.sketch ? " sketch" : "");
  if (!group_by) return text + " by all tags";
  text += " by";
  for (const std::string& key : *group_by) text += " " + key;
  return text;
}

Result<std::vector<ViewRule>> parse_view_rules(std::string_view text) {
  std::vector<ViewRule> rules;
  TRY(const json::array elements, parse_rules("views", text));
  if (elements.size() > kViewsMax) {
    return fail(Errc::kInvalidArgument,
                fmt::format("views: {} views exceed the limit of {}", elements.size(), kViewsMax));
  }
  for (const json::value& element : elements) {
    const auto bad = [&](std::string_view why) {
      return fail(Errc::kInvalidArgument, fmt::format("views: view {}: {}", rules.size() + 1, why));
    };
    Result<ViewRule> rule = parse_rule(element);
    if (!rule) return bad(rule.error().message);
    if (std::ranges::find(rules, rule->name, &ViewRule::name) != rules.end()) {
      return bad(fmt::format("the name {} is used twice", rule->name));
    }
    rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace halite::storage
