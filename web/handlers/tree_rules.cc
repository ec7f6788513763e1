// POST, PUT, DELETE /api/tree/rules: all rules of a tree at once.
//
// POST        [{..},{..}] rules of one tree, each as in /api/tree/rule: 204. PUT first removes all
//             others
// DELETE      treeid=<id>, or a body of rules that name the tree: removes all its rules: 204
// Errors      400 no rules, or of several trees; a required field is missing; another method; 404
//             no such tree; 400 a body without rules, or one that changes nothing (500 with
//             --opentsdb-conf)
#include <boost/json.hpp>

#include "storage/meta/metadata.h"
#include "storage/meta/objects/json_fields.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/tree_request.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

using storage::TreeRule;

Result<std::vector<TreeRule>> parse_rules(std::string_view body) {
  TRY(const boost::json::array list, storage::parse_json_array(body));
  std::vector<TreeRule> rules;
  for (const boost::json::value& element : list) {
    if (!element.is_object()) return fail(Errc::kInvalidArgument, "a rule must be an object");
    TRY(TreeRule rule, storage::parse_tree_rule(element.get_object()));
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::expected<std::vector<TreeRule>, Response> parse_rules_body(const Call& call) {
  Result<std::vector<TreeRule>> rules = parse_rules(call.request.body);
  if (!rules) return std::unexpected(mistake_response(call, rules.error()));
  if (rules->empty()) return std::unexpected(error_response(call, 400, "Missing tree rules"));
  for (const TreeRule& rule : *rules) {
    if (rule.tree_id == rules->front().tree_id) continue;
    return std::unexpected(error_response(call, 400, "All rules must belong to the same tree"));
  }
  return std::move(*rules);
}

asio::awaitable<Response> put_rules(Call& call, std::int32_t tree, std::vector<TreeRule> rules) {
  if (rules.empty()) co_return error_response(call, 400, "Missing tree rules");
  const bool replace = call.request.method == "PUT";
  storage::TreeStore& trees = call.services.metadata.trees();
  if (replace) {
    const Result<void> removed = co_await trees.remove_rules(tree);
    if (!removed) co_return tree_error(call, removed.error());
  }
  for (TreeRule& rule : rules) {
    Result<bool> changed = rule.changes_anything();
    if (*changed) changed = co_await trees.put_rule(std::move(rule), replace);
    if (!changed) co_return tree_error(call, changed.error());
    if (!*changed) {
      const Error mistake{Errc::kInvalidArgument, "No changes detected in the rule", {}};
      co_return mistake_response(call, mistake);
    }
  }
  co_return status_only(204);
}

}  // namespace

asio::awaitable<Response> handle_tree_rules(Call& call) {
  std::vector<TreeRule> rules;
  std::expected<std::int32_t, Response> id = 0;
  if (call.request.body.empty()) {
    id = tree_id(call, false);
    if (!id) co_return std::move(id.error());
  } else {
    std::expected<std::vector<TreeRule>, Response> parsed = parse_rules_body(call);
    if (!parsed) co_return std::move(parsed.error());
    rules = std::move(*parsed);
    id = rules.front().tree_id;
  }
  std::expected<storage::Tree, Response> tree = co_await find_tree(call, *id);
  if (!tree) co_return std::move(tree.error());
  if (changes_method(call)) co_return co_await put_rules(call, *id, std::move(rules));
  if (call.request.method != "DELETE") co_return unsupported_method(call);
  const Result<void> removed = co_await call.services.metadata.trees().remove_rules(*id);
  if (!removed) co_return tree_error(call, removed.error());
  co_return status_only(204);
}

}  // namespace halite::web
