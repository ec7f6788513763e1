// A tree, which sorts series into branches by rules over their names: its definition, its rules,
// and their JSON.
//
//   stored  {"name","description","notes","strictMatch","created","enabled","storeFailures"}, and a
//           rule as it is shown; byte for byte as OpenTSDB stores them
//   shown   a tree with its rules: {"name","description","notes","enabled","rules":{"<level>":
//           {"<order>":{..}}},"created","treeId","strictMatch","storeFailures"}; no rules: null
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "common/result.h"

namespace halite::storage {

inline constexpr std::int32_t kTreeIdMax = 65535;

enum class TreeRuleType : std::uint8_t {
  kMetric,        // the metric's name
  kMetricCustom,  // a custom field of the metric's UIDMeta
  kTagk,          // the value of a tag
  kTagkCustom,    // a custom field of a tag key's UIDMeta
  kTagvCustom,    // a custom field of a tag value's UIDMeta
};
[[nodiscard]] std::string_view tree_rule_type_text(TreeRuleType type);  // "METRIC", "TAGK", ..
// Ignores case. kInvalidArgument: "Unrecognized rule type", "Rule type was empty".
[[nodiscard]] Result<TreeRuleType> parse_tree_rule_type(std::string_view text);

struct TreeRule {
  std::optional<TreeRuleType> type;
  std::string field;         // the tag key or value that it applies to
  std::string custom_field;  // the custom field's name
  std::string regex;         // RE2; empty = none
  std::string separator;     // RE2 that splits values; empty = no split
  std::string description;
  std::string notes;
  std::int32_t regex_group = 0;  // 0 = the first
  std::string display_format;    // with {ovalue}, {value}, {tsuid}, {tag_name}; empty = {value}
  std::int32_t level = 0;
  std::int32_t order = 0;
  std::int32_t tree_id = 0;
  bool operator==(const TreeRule&) const = default;

  [[nodiscard]] bool changes_anything() const;  // whether it changes anything as an edit
};
[[nodiscard]] std::string to_text(const TreeRule& rule);  // "[1:0:0:METRIC]"

// kInvalidArgument, naming the field: not a rule, a negative level or order, an invalid regex.
[[nodiscard]] Result<TreeRule> parse_tree_rule(const boost::json::object& object);
[[nodiscard]] Result<TreeRule> parse_tree_rule(std::string_view json);
[[nodiscard]] Result<void> check_tree_regex(const std::string& pattern);
// Checks that a rule has what its type needs; errors are OpenTSDB's messages.
[[nodiscard]] Result<void> check_tree_rule(const TreeRule& rule);
[[nodiscard]] TreeRule merged(const TreeRule& edit, const TreeRule& stored, bool replace);
void append_shown_json(std::string& to, const TreeRule& rule);  // also the stored form

// By level, then order.
using TreeRules = std::map<std::int32_t, std::map<std::int32_t, TreeRule>>;

struct Tree {
  std::int32_t id = 0;  // 1 to kTreeIdMax; 0 = not given
  std::string name;
  std::string description;
  std::string notes;
  bool strict_match = false;    // leaves out series that fail a level
  bool enabled = false;         // new series are sorted into it
  bool store_failures = false;  // stores collisions and series that do not match
  std::int64_t created_s = 0;
  TreeRules rules;
};

// The changes of a request. Texts count as given if they are not empty.
struct TreeEdit {
  Tree tree;
  bool strict_match_given = false;
  bool enabled_given = false;
  bool store_failures_given = false;
  [[nodiscard]] bool changes_anything() const;
};

// Ignores the case of field names and reads all values as texts.
[[nodiscard]] Result<TreeEdit> parse_tree_edit(std::string_view json);
// A stored definition; the id and the rules are stored elsewhere.
[[nodiscard]] Result<Tree> parse_stored_tree(std::string_view json);
[[nodiscard]] Tree merged(const TreeEdit& edit, const Tree& stored, bool replace);
[[nodiscard]] std::string stored_json(const Tree& tree);
void append_shown_json(std::string& to, const Tree& tree);

}  // namespace halite::storage
