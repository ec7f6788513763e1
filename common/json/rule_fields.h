// Rules in the settings: [[counters]] and [[views]] tables, as a JSON list of objects.
//
//   Errors  kInvalidArgument; the message names the field, but not the rule.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "common/result.h"

namespace halite {

// The elements of the list in this setting; none if the text is empty.
[[nodiscard]] Result<boost::json::array> parse_rules(std::string_view setting,
                                                     std::string_view text);

// The rule as an object that has no other keys than these.
[[nodiscard]] Result<const boost::json::object*> rule_object(
    const boost::json::value& rule, std::span<const std::string_view> keys);

// A text that is not empty, and a list of such texts.
[[nodiscard]] Result<std::string> rule_text(const boost::json::object& rule, std::string_view key);
[[nodiscard]] Result<std::vector<std::string>> rule_texts(const boost::json::object& rule,
                                                          std::string_view key);

// The field "metrics": a name, or a prefix and '*'.
[[nodiscard]] Result<std::string> rule_metrics(const boost::json::object& rule);
[[nodiscard]] bool covers_metric(std::string_view metrics, std::string_view metric);

}  // namespace halite
