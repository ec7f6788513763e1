#include "storage/meta/trees/tree.h"

#include <array>
#include <iterator>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <re2/re2.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/json_string.h"
#include "storage/meta/objects/json_fields.h"
#include "storage/meta/objects/text_fields.h"

namespace halite::storage {

namespace json = boost::json;

namespace {

constexpr std::array<std::string_view, 5> kTypes = {"METRIC", "METRIC_CUSTOM", "TAGK",
                                                    "TAGK_CUSTOM", "TAGV_CUSTOM"};

void append_field(std::string& to, std::string_view name, std::string_view text) {
  if (to.back() != '{') to += ',';
  append_json_string(to, name);
  to += ':';
  append_json_string(to, text);
}

Result<void> take_text_field(TreeRule& rule, std::string_view name, const json::value& value) {
  const std::array<std::pair<std::string_view, std::string*>, 7> texts = {{
      {"field", &rule.field},
      {"customField", &rule.custom_field},
      {"regex", &rule.regex},
      {"separator", &rule.separator},
      {"description", &rule.description},
      {"notes", &rule.notes},
      {"displayFormat", &rule.display_format},
  }};
  for (const auto& [known, text] : texts) {
    if (name != known) continue;
    TRY(*text, plain_text(name, value));
  }
  return {};
}

Result<void> take_field(TreeRule& rule, std::string_view name, const json::value& value) {
  if (name == "type") {
    TRY(const std::string type, plain_text(name, value));
    TRY(rule.type, parse_tree_rule_type(type));
  } else if (name == "regexGroupIdx") {
    TRY(rule.regex_group, int_field(name, value));
  } else if (name == "level") {
    TRY(rule.level, int_field(name, value));
  } else if (name == "order") {
    TRY(rule.order, int_field(name, value));
  } else if (name == "treeId") {
    TRY(rule.tree_id, int_field(name, value));
  }
  return take_text_field(rule, name, value);
}

}  // namespace

std::string_view tree_rule_type_text(TreeRuleType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

Result<TreeRuleType> parse_tree_rule_type(std::string_view text) {
  const std::string wanted = to_lower(text);
  if (wanted.empty()) return fail(Errc::kInvalidArgument, "Rule type was empty");
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (wanted == to_lower(kTypes[i])) return static_cast<TreeRuleType>(i);
  }
  return fail(Errc::kInvalidArgument, "Unrecognized rule type");
}

bool TreeRule::changes_anything() const {
  TreeRule nothing;
  nothing.tree_id = tree_id;
  return *this != nothing;
}

std::string to_text(const TreeRule& rule) {
  return fmt::format("[{}:{}:{}:{}]", rule.tree_id, rule.level, rule.order,
                     rule.type ? tree_rule_type_text(*rule.type) : "null");
}

Result<void> check_tree_regex(const std::string& pattern) {
  const re2::RE2 compiled(pattern, re2::RE2::Quiet);
  if (compiled.ok()) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("\"{}\" is not a regular expression: {}", pattern, compiled.error()));
}

Result<TreeRule> parse_tree_rule(const json::object& object) {
  TreeRule rule;
  for (const auto& [key, value] : object) {
    TRY_VOID(take_field(rule, key, value));
  }
  if (rule.level < 0) return fail(Errc::kInvalidArgument, "Negative levels are not allowed");
  if (rule.order < 0) return fail(Errc::kInvalidArgument, "Negative orders are not allowed");
  for (const std::string* pattern : {&rule.regex, &rule.separator}) {
    TRY_VOID(check_tree_regex(*pattern));
  }
  return rule;
}

Result<TreeRule> parse_tree_rule(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  return parse_tree_rule(object);
}

Result<void> check_tree_rule(const TreeRule& rule) {
  if (!rule.type) return fail(Errc::kInvalidArgument, "Missing rule type");
  const std::string_view type = tree_rule_type_text(*rule.type);
  if (*rule.type != TreeRuleType::kMetric && rule.field.empty()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Missing field name required for {} rule", type));
  }
  const bool custom = *rule.type != TreeRuleType::kMetric && *rule.type != TreeRuleType::kTagk;
  if (custom && rule.custom_field.empty()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Missing custom field name required for {} rule", type));
  }
  if (rule.regex_group < 0) {
    return fail(Errc::kInvalidArgument, "Invalid regex group index. Cannot be less than 0");
  }
  return {};
}

TreeRule merged(const TreeRule& edit, const TreeRule& stored, bool replace) {
  TreeRule rule = edit;
  if (replace) return rule;
  if (!rule.type) rule.type = stored.type;
  if (rule.field.empty()) rule.field = stored.field;
  if (rule.custom_field.empty()) rule.custom_field = stored.custom_field;
  if (rule.regex.empty()) rule.regex = stored.regex;
  if (rule.separator.empty()) rule.separator = stored.separator;
  if (rule.description.empty()) rule.description = stored.description;
  if (rule.notes.empty()) rule.notes = stored.notes;
  if (rule.regex_group == 0) rule.regex_group = stored.regex_group;
  if (rule.display_format.empty()) rule.display_format = stored.display_format;
  return rule;
}

void append_shown_json(std::string& to, const TreeRule& rule) {
  to += '{';
  if (rule.type) {
    append_field(to, "type", tree_rule_type_text(*rule.type));
  } else {
    to += "\"type\":null";
  }
  append_field(to, "field", rule.field);
  append_field(to, "regex", rule.regex);
  append_field(to, "separator", rule.separator);
  append_field(to, "description", rule.description);
  append_field(to, "notes", rule.notes);
  fmt::format_to(std::back_inserter(to), ",\"level\":{},\"order\":{},\"treeId\":{}", rule.level,
                 rule.order, rule.tree_id);
  append_field(to, "customField", rule.custom_field);
  fmt::format_to(std::back_inserter(to), ",\"regexGroupIdx\":{}", rule.regex_group);
  append_field(to, "displayFormat", rule.display_format);
  to += '}';
}

bool TreeEdit::changes_anything() const {
  return !tree.name.empty() || !tree.description.empty() || !tree.notes.empty() ||
         strict_match_given || enabled_given || store_failures_given;
}

Result<TreeEdit> parse_tree_edit(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  TreeEdit edit;
  for (const auto& [key, value] : object) {
    const std::string name = to_lower(std::string_view(key));
    TRY(const std::optional<std::string> given, text_field(std::string_view(key), value));
    if (!given) continue;
    const bool yes = to_lower(*given) == "true";
    if (name == "treeid") {
      if (!read_number(*given, edit.tree.id)) {
        return fail(Errc::kInvalidArgument, "Unable to parse 'tree' value");
      }
    } else if (name == "name") {
      edit.tree.name = *given;
    } else if (name == "description") {
      edit.tree.description = *given;
    } else if (name == "notes") {
      edit.tree.notes = *given;
    } else if (name == "enabled") {
      edit.tree.enabled = yes;
      edit.enabled_given = true;
    } else if (name == "strictmatch") {
      edit.tree.strict_match = yes;
      edit.strict_match_given = true;
    } else if (name == "storefailures") {
      edit.tree.store_failures = yes;
      edit.store_failures_given = true;
    }
  }
  return edit;
}

Result<Tree> parse_stored_tree(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  Tree tree;
  for (const auto& [key, value] : object) {
    const std::string_view name = key;
    if (name == "name") {
      TRY(tree.name, plain_text(name, value));
    } else if (name == "description") {
      TRY(tree.description, plain_text(name, value));
    } else if (name == "notes") {
      TRY(tree.notes, plain_text(name, value));
    } else if (name == "strictMatch") {
      TRY(tree.strict_match, bool_field(name, value));
    } else if (name == "created") {
      TRY(tree.created_s, long_field(name, value));
    } else if (name == "enabled") {
      TRY(tree.enabled, bool_field(name, value));
    } else if (name == "storeFailures") {
      TRY(tree.store_failures, bool_field(name, value));
    }
  }
  return tree;
}

Tree merged(const TreeEdit& edit, const Tree& stored, bool replace) {
  Tree tree = stored;
  if (replace || !edit.tree.name.empty()) tree.name = edit.tree.name;
  if (replace || !edit.tree.description.empty()) tree.description = edit.tree.description;
  if (replace || !edit.tree.notes.empty()) tree.notes = edit.tree.notes;
  if (replace || edit.strict_match_given) tree.strict_match = edit.tree.strict_match;
  if (replace || edit.enabled_given) tree.enabled = edit.tree.enabled;
  if (replace || edit.store_failures_given) tree.store_failures = edit.tree.store_failures;
  return tree;
}

std::string stored_json(const Tree& tree) {
  std::string text = "{";
  append_field(text, "name", tree.name);
  append_field(text, "description", tree.description);
  append_field(text, "notes", tree.notes);
  fmt::format_to(std::back_inserter(text),
                 ",\"strictMatch\":{},\"created\":{},\"enabled\":{},\"storeFailures\":{}}}",
                 tree.strict_match, tree.created_s, tree.enabled, tree.store_failures);
  return text;
}

void append_shown_json(std::string& to, const Tree& tree) {
  to += '{';
  append_field(to, "name", tree.name);
  append_field(to, "description", tree.description);
  append_field(to, "notes", tree.notes);
  fmt::format_to(std::back_inserter(to), ",\"enabled\":{},\"rules\":", tree.enabled);
  if (tree.rules.empty()) {
    to += "null";
  } else {
    to += '{';
    for (const auto& [level, rules] : tree.rules) {
      if (to.back() != '{') to += ',';
      fmt::format_to(std::back_inserter(to), "\"{}\":{{", level);
      for (const auto& [order, rule] : rules) {
        if (to.back() != '{') to += ',';
        fmt::format_to(std::back_inserter(to), "\"{}\":", order);
        append_shown_json(to, rule);
      }
      to += '}';
    }
    to += '}';
  }
  fmt::format_to(std::back_inserter(to),
                 ",\"created\":{},\"treeId\":{},\"strictMatch\":{},\"storeFailures\":{}}}",
                 tree.created_s, tree.id, tree.strict_match, tree.store_failures);
}

}  // namespace halite::storage
