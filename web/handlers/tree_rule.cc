// GET, POST, PUT, DELETE /api/tree/rule: one rule of a tree.
//
// Parameters  treeid, level, order, type, field, custom_field, regex, separator, description,
//             notes, regex_group_idx, display_format. Or a body {"treeId","level","order","type",
//             "field","customField","regex","separator","description","notes","regexGroupIdx",
//             "displayFormat"}; type is METRIC, METRIC_CUSTOM, TAGK, TAGK_CUSTOM or TAGV_CUSTOM
// GET         200 the rule
// POST        changes the given fields, PUT resets the others: 200 the rule; 304 nothing changes
// DELETE      204
// Errors      400 a field that its type requires is missing, another method; 404 no such tree or
//             rule; 400 an invalid body (500 with --opentsdb-conf)

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/tree_request.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

using storage::Tree;
using storage::TreeRule;

Response wrong_parameter(const Call& call, std::string_view name, std::string_view details) {
  return error_response(call, 400, fmt::format("Unable to parse the '{}' parameter", name),
                        details);
}

// Leaves the value unchanged if the parameter is absent.
std::optional<Response> take_number(const Call& call, std::string_view name, bool required,
                                    std::int32_t& number) {
  const std::string_view text = call.target.get(name);
  if (text.empty() && required) return missing_parameter(call, name);
  if (!call.target.has(name)) return std::nullopt;
  if (read_number(text, number)) return std::nullopt;
  return wrong_parameter(call, name, fmt::format("For input string: \"{}\"", text));
}

std::expected<TreeRule, Response> parse_rule_uri(const Call& call) {
  std::expected<std::int32_t, Response> id = tree_id(call, true);
  if (!id) return std::unexpected(std::move(id.error()));
  const Target& target = call.target;
  TreeRule rule;
  rule.tree_id = *id;
  if (target.has("type")) {
    const Result<storage::TreeRuleType> type = storage::parse_tree_rule_type(target.get("type"));
    if (!type) return std::unexpected(wrong_parameter(call, "type", type.error().message));
    rule.type = *type;
  }
  rule.field = target.get("field");
  rule.custom_field = target.get("custom_field");
  rule.regex = target.get("regex");
  rule.separator = target.get("separator");
  rule.description = target.get("description");
  rule.notes = target.get("notes");
  rule.display_format = target.get("display_format");
  if (const Result<void> good = storage::check_tree_regex(rule.regex); !good) {
    return std::unexpected(wrong_parameter(call, "regex", good.error().message));
  }
  if (const Result<void> good = storage::check_tree_regex(rule.separator); !good) {
    return std::unexpected(wrong_parameter(call, "separator", good.error().message));
  }
  if (auto refusal = take_number(call, "regex_group_idx", false, rule.regex_group)) {
    return std::unexpected(std::move(*refusal));
  }
  if (auto refusal = take_number(call, "level", true, rule.level)) {
    return std::unexpected(std::move(*refusal));
  }
  if (auto refusal = take_number(call, "order", true, rule.order)) {
    return std::unexpected(std::move(*refusal));
  }
  return rule;
}

std::expected<TreeRule, Response> parse_rule_request(const Call& call) {
  if (call.request.body.empty()) return parse_rule_uri(call);
  Result<TreeRule> rule = storage::parse_tree_rule(call.request.body);
  if (!rule) return std::unexpected(mistake_response(call, rule.error()));
  return std::move(*rule);
}

const TreeRule* find_rule(const Tree& tree, const TreeRule& wanted) {
  const auto level = tree.rules.find(wanted.level);
  if (level == tree.rules.end()) return nullptr;
  const auto rule = level->second.find(wanted.order);
  return rule == level->second.end() ? nullptr : &rule->second;
}

Response rule_response(const TreeRule& rule) {
  std::string json;
  storage::append_shown_json(json, rule);
  return json_response(200, std::move(json));
}

asio::awaitable<Response> put_rule(Call& call, TreeRule edit) {
  if (!edit.changes_anything()) co_return status_only(304);
  const TreeRule wanted = edit;
  const bool replace = call.request.method == "PUT";
  storage::TreeStore& trees = call.services.metadata.trees();
  const Result<bool> changed = co_await trees.put_rule(std::move(edit), replace);
  if (!changed) co_return tree_error(call, changed.error());
  if (!*changed) co_return status_only(304);
  std::expected<Tree, Response> tree = co_await find_tree(call, wanted.tree_id);
  if (!tree) co_return std::move(tree.error());
  const TreeRule* stored = find_rule(*tree, wanted);
  if (stored == nullptr) {
    co_return error_response(call, 500, "The rule was removed by another request");
  }
  co_return rule_response(*stored);
}

}  // namespace

asio::awaitable<Response> handle_tree_rule(Call& call) {
  std::expected<TreeRule, Response> wanted = parse_rule_request(call);
  if (!wanted) co_return std::move(wanted.error());
  std::expected<Tree, Response> tree = co_await find_tree(call, wanted->tree_id);
  if (!tree) co_return std::move(tree.error());
  if (changes_method(call)) co_return co_await put_rule(call, std::move(*wanted));
  if (call.request.method != "GET" && call.request.method != "DELETE") {
    co_return unsupported_method(call);
  }
  const TreeRule* rule = find_rule(*tree, *wanted);
  if (rule == nullptr) {
    co_return error_response(call, 404,
                             fmt::format("Unable to locate rule: {}", storage::to_text(*wanted)));
  }
  if (call.request.method == "GET") co_return rule_response(*rule);
  const Result<void> removed = co_await call.services.metadata.trees().remove_rule(
      wanted->tree_id, wanted->level, wanted->order);
  if (!removed) co_return tree_error(call, removed.error());
  co_return status_only(204);
}

}  // namespace halite::web
