#include "storage/views/view_rules.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/config/config_value.h"
#include "common/units.h"

namespace halite::storage {
namespace {

namespace json = boost::json;

constexpr std::size_t kViewsMax = 1000;
constexpr std::size_t kNameBytesMax = 128;
constexpr std::int64_t kDayOfYear = 365;

Result<std::string> text_of(const json::object& rule, std::string_view key) {
  const json::value* const found = rule.if_contains(key);
  if (found == nullptr || !found->is_string() || found->get_string().empty()) {
    return fail(Errc::kInvalidArgument, fmt::format("{} must be a text", key));
  }
  return std::string(found->get_string());
}

Result<std::vector<std::string>> texts_of(const json::object& rule, std::string_view key) {
  const json::value* const found = rule.if_contains(key);
  std::vector<std::string> texts;
  if (found == nullptr || !found->is_array()) {
    return fail(Errc::kInvalidArgument, fmt::format("{} must be a list of texts", key));
  }
  for (const json::value& value : found->get_array()) {
    if (!value.is_string() || value.get_string().empty()) {
      return fail(Errc::kInvalidArgument, fmt::format("{} must be a list of texts", key));
    }
    texts.emplace_back(value.get_string());
  }
  return texts;
}

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

Result<ViewFunctions> parse_functions(const std::vector<std::string>& names) {
  ViewFunctions functions;
  for (const std::string& name : names) {
    if (name == "sum") {
      functions.sum = true;
    } else if (name == "min") {
      functions.min = true;
    } else if (name == "max") {
      functions.max = true;
    } else if (name != "count") {
      return fail(
          Errc::kInvalidArgument,
          fmt::format("unknown function \"{}\"; the functions are sum, count, min and max", name));
    }
  }
  if (names.empty()) return fail(Errc::kInvalidArgument, "functions must name at least one");
  return functions;
}

Result<ViewRule> parse_rule(const json::value& value) {
  if (!value.is_object()) return fail(Errc::kInvalidArgument, "must be a table");
  const json::object& object = value.get_object();
  for (const auto& [key, unused] : object) {
    constexpr std::string_view kKeys[] = {"name",      "metrics",  "interval",
                                          "functions", "group_by", "keep"};
    if (std::ranges::find(kKeys, std::string_view(key)) != std::end(kKeys)) continue;
    return fail(Errc::kInvalidArgument,
                fmt::format("unknown key \"{}\"; the keys are name, metrics, interval, functions, "
                            "group_by and keep",
                            std::string_view(key)));
  }
  ViewRule rule;
  TRY(rule.name, text_of(object, "name"));
  if (!is_name(rule.name)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("the name \"{}\" must be at most {} letters, digits, '-', '_' and '.'",
                            rule.name, kNameBytesMax));
  }
  TRY(rule.metrics, text_of(object, "metrics"));
  const std::size_t star = rule.metrics.find('*');
  if (star != std::string::npos && star + 1 != rule.metrics.size()) {
    return fail(Errc::kInvalidArgument, "metrics must be a name, or a prefix that ends in *");
  }
  TRY(const std::string interval, text_of(object, "interval"));
  TRY(rule.interval_ms, parse_interval(interval));
  TRY(const std::vector<std::string> functions, texts_of(object, "functions"));
  TRY(rule.functions, parse_functions(functions));
  if (object.contains("group_by")) {
    TRY(rule.group_by, texts_of(object, "group_by"));
    std::ranges::sort(*rule.group_by);
    const auto twice = std::ranges::unique(*rule.group_by);
    rule.group_by->erase(twice.begin(), twice.end());
  }
  if (object.contains("keep")) {
    TRY(const std::string keep, text_of(object, "keep"));
    TRY(rule.keep_ms, parse_keep(keep));
  }
  return rule;
}

}  // namespace

bool ViewRule::covers(std::string_view metric) const {
  if (!metrics.ends_with('*')) return metrics == metric;
  return metric.starts_with(std::string_view(metrics).substr(0, metrics.size() - 1));
}

std::int64_t ViewRule::unit_ms() const { return std::max(interval_ms, kHourMs); }

std::string ViewRule::definition() const {
  std::string text = fmt::format("{} ms:{}{}{}", interval_ms, functions.sum ? " sum" : "",
                                 functions.min ? " min" : "", functions.max ? " max" : "");
  if (!group_by) return text + " by all tags";
  text += " by";
  for (const std::string& key : *group_by) text += " " + key;
  return text;
}

Result<std::vector<ViewRule>> parse_view_rules(std::string_view text) {
  std::vector<ViewRule> rules;
  if (text.empty()) return rules;
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_array()) {
    return fail(Errc::kInvalidArgument,
                "views must be [[views]] tables, or a JSON list of such tables");
  }
  if (value.get_array().size() > kViewsMax) {
    return fail(Errc::kInvalidArgument, fmt::format("views: {} views exceed the limit of {}",
                                                    value.get_array().size(), kViewsMax));
  }
  for (const json::value& element : value.get_array()) {
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
