// GET, POST, PUT, DELETE /api/tree: trees, which sort series by their names.
//
// Parameters  treeid, name, description, notes, strict_match, enabled, store_failures;
//             definition=true; method_override. Or a body {"treeId","name","description","notes",
//             "strictMatch","enabled","storeFailures"}
// GET         200 the tree {"name","description","notes","enabled","rules","created","treeId",
//             "strictMatch","storeFailures"}; without an id [..] all trees
// POST, PUT   create a tree if there is no id. With an id, POST changes the given fields, PUT
//             resets the others: 200 the tree; 304 no field is given
// DELETE      removes its branches and leaves, with definition=true also the tree and its rules:
//             204
// Errors      400 no name, no such id, another method; 404 no such tree
// /api/tree/branch, rule, rules, test, collisions and notmatched have their own files.
#include "common/bytes/ascii.h"
#include "common/json_list.h"
#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/tree_request.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

using storage::Tree;
using storage::TreeEdit;

bool is_true(const Target& target, std::string_view name) {
  return to_lower(target.get(name)) == "true";
}

std::expected<TreeEdit, Response> parse_tree_uri(const Call& call) {
  std::expected<std::int32_t, Response> id = tree_id(call, false);
  if (!id) return std::unexpected(std::move(id.error()));
  const Target& target = call.target;
  TreeEdit edit;
  edit.tree.id = *id;
  edit.tree.name = target.get("name");
  edit.tree.description = target.get("description");
  edit.tree.notes = target.get("notes");
  edit.tree.created_s = call.services.clock.now_ms() / 1000;
  edit.tree.strict_match = is_true(target, "strict_match");
  edit.strict_match_given = target.has("strict_match");
  edit.tree.enabled = is_true(target, "enabled");
  edit.enabled_given = target.has("enabled");
  edit.tree.store_failures = is_true(target, "store_failures");
  edit.store_failures_given = target.has("store_failures");
  return edit;
}

std::expected<TreeEdit, Response> parse_tree_request(const Call& call) {
  if (call.request.body.empty()) return parse_tree_uri(call);
  Result<TreeEdit> edit = storage::parse_tree_edit(call.request.body);
  if (edit) return std::move(*edit);
  constexpr std::string_view kNoNumber = "Unable to parse 'tree' value";
  if (edit.error().message == kNoNumber) {
    return std::unexpected(error_response(call, 400, kNoNumber));
  }
  return std::unexpected(
      error_response(call, 400, "Unable to parse the given JSON", edit.error().message));
}

asio::awaitable<Response> show_tree(Call& call, std::int32_t id) {
  std::expected<Tree, Response> tree = co_await find_tree(call, id);
  if (!tree) co_return std::move(tree.error());
  std::string json;
  storage::append_shown_json(json, *tree);
  co_return json_response(200, std::move(json));
}

asio::awaitable<Response> show_all(Call& call) {
  const Result<std::vector<Tree>> trees = co_await call.services.metadata.trees().all();
  if (!trees) co_return tree_error(call, trees.error());
  std::string json;
  append_json_list(json, *trees,
                   [&json](const Tree& tree) { storage::append_shown_json(json, tree); });
  co_return json_response(200, std::move(json));
}

asio::awaitable<Response> put_tree(Call& call, TreeEdit edit) {
  storage::TreeStore& trees = call.services.metadata.trees();
  std::int32_t id = edit.tree.id;
  if (id == 0) {
    const Result<std::int32_t> made = co_await trees.create(std::move(edit));
    if (!made) co_return tree_error(call, made.error());
    co_return co_await show_tree(call, *made);
  }
  std::expected<Tree, Response> tree = co_await find_tree(call, id);
  if (!tree) co_return std::move(tree.error());
  if (!edit.changes_anything()) co_return status_only(304);
  const Result<void> changed = co_await trees.change(std::move(edit), call.request.method == "PUT");
  if (!changed) co_return tree_error(call, changed.error());
  co_return co_await show_tree(call, id);
}

asio::awaitable<Response> remove_tree(Call& call, std::int32_t id) {
  std::expected<Tree, Response> tree = co_await find_tree(call, id);
  if (!tree) co_return std::move(tree.error());
  const bool definition = is_true(call.target, "definition");
  const Result<void> removed = co_await call.services.metadata.trees().remove(id, definition);
  if (!removed) co_return tree_error(call, removed.error());
  co_return status_only(204);
}

asio::awaitable<Response> handle_definition(Call& call) {
  std::expected<TreeEdit, Response> edit = parse_tree_request(call);
  if (!edit) co_return std::move(edit.error());
  const std::int32_t id = edit->tree.id;
  if (changes_method(call)) co_return co_await put_tree(call, std::move(*edit));
  if (call.request.method == "DELETE") co_return co_await remove_tree(call, id);
  if (call.request.method != "GET") co_return unsupported_method(call);
  if (id == 0) co_return co_await show_all(call);
  co_return co_await show_tree(call, id);
}

}  // namespace

asio::awaitable<Response> handle_tree(Call& call) {
  if (std::optional<Response> refusal = override_method(call)) co_return std::move(*refusal);
  const std::string what = call.target.rest.empty() ? "" : to_lower(call.target.rest[0]);
  if (what.empty()) co_return co_await handle_definition(call);
  if (what == "branch") co_return co_await handle_tree_branch(call);
  if (what == "rule") co_return co_await handle_tree_rule(call);
  if (what == "rules") co_return co_await handle_tree_rules(call);
  if (what == "test") co_return co_await handle_tree_trial(call);
  if (what == "collisions") co_return co_await handle_tree_collisions(call);
  if (what == "notmatched") co_return co_await handle_tree_not_matched(call);
  co_return error_response(call, 404, "This endpoint is not supported");
}

}  // namespace halite::web
