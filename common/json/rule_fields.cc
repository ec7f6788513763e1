#include "common/json/rule_fields.h"

#include <algorithm>
#include <utility>

#include <boost/json/value.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/json/json_value.h"

namespace halite {

namespace json = boost::json;

Result<json::array> parse_rules(std::string_view setting, std::string_view text) {
  if (text.empty()) return json::array();
  boost::system::error_code error;
  json::value value = parse_json_value(text, error);
  if (error || !value.is_array()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("{0} must be [[{0}]] tables, or a JSON list of such tables", setting));
  }
  return std::move(value).as_array();
}

Result<const json::object*> rule_object(const json::value& rule,
                                        std::span<const std::string_view> keys) {
  if (!rule.is_object()) return fail(Errc::kInvalidArgument, "must be a table");
  for (const auto& [key, unused] : rule.get_object()) {
    if (std::ranges::find(keys, std::string_view(key)) != keys.end()) continue;
    return fail(Errc::kInvalidArgument,
                fmt::format("unknown key \"{}\"; the keys are {} and {}", std::string_view(key),
                            fmt::join(keys.first(keys.size() - 1), ", "), keys.back()));
  }
  return &rule.get_object();
}

Result<std::string> rule_text(const json::object& rule, std::string_view key) {
  const json::value* const found = rule.if_contains(key);
  if (found == nullptr || !found->is_string() || found->get_string().empty()) {
    return fail(Errc::kInvalidArgument, fmt::format("{} must be a text", key));
  }
  return std::string(found->get_string());
}

Result<std::vector<std::string>> rule_texts(const json::object& rule, std::string_view key) {
  const json::value* const found = rule.if_contains(key);
  const auto is_text = [](const json::value& value) {
    return value.is_string() && !value.get_string().empty();
  };
  if (found == nullptr || !found->is_array() || !std::ranges::all_of(found->get_array(), is_text)) {
    return fail(Errc::kInvalidArgument, fmt::format("{} must be a list of texts", key));
  }
  std::vector<std::string> texts;
  for (const json::value& value : found->get_array()) texts.emplace_back(value.get_string());
  return texts;
}

Result<std::string> rule_metrics(const json::object& rule) {
  Result<std::string> metrics = rule_text(rule, "metrics");
  const std::size_t star = metrics ? metrics->find('*') : 0;
  if (!metrics || (star != std::string::npos && star + 1 != metrics->size())) {
    return fail(Errc::kInvalidArgument, "metrics must be a name, or a prefix that ends in *");
  }
  return metrics;
}

bool covers_metric(std::string_view metrics, std::string_view metric) {
  if (!metrics.ends_with('*')) return metrics == metric;
  return metric.starts_with(metrics.substr(0, metrics.size() - 1));
}

}  // namespace halite
