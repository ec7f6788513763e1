// GET /api/tree/branch: a branch of a tree, with its leaves and sub-branches.
//
// Parameters  treeid: its root; or branch=<id as in the answers>
// Answer      200 {"leaves":[{"metric","tags","displayName","tsuid"}],"branches":[..],"path":{"0":
//             "ROOT",..},"treeId","branchId","depth","displayName"}; null without leaves or
//             branches
// Errors      400 no id, or an invalid one; another method; 404 no such branch
#include <fmt/format.h>

#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/tree_request.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

Result<Bytes> branch_id(std::string_view text) {
  if (text.size() < 4) return fail(Errc::kInvalidArgument, "Branch ID was too short");
  return storage::tsuid_bytes(text);
}

}  // namespace

asio::awaitable<Response> handle_tree_branch(Call& call) {
  if (call.request.method != "GET") co_return unsupported_method(call);
  std::expected<std::int32_t, Response> tree = tree_id(call, false);
  if (!tree) co_return std::move(tree.error());
  Result<Bytes> id = storage::tree_row(*tree);
  if (!call.target.get("branch").empty()) {
    id = branch_id(call.target.get("branch"));
  } else if (*tree < 1) {
    co_return error_response(call, 400, "Missing or invalid branch and tree IDs");
  } else if (*tree > storage::kTreeIdMax) {
    id = fail(Errc::kInvalidArgument, "Invalid Tree ID");
  }
  if (!id) co_return wrong_argument(call, id.error());
  const Result<std::optional<storage::TreeBranch>> branch =
      co_await call.services.metadata.trees().branch(*id);
  if (!branch) co_return tree_error(call, branch.error());
  if (!*branch) {
    const auto owner = load_be<std::uint16_t>(id->data());
    co_return error_response(
        call, 404, fmt::format("Unable to locate branch '{}' for tree '{}'", to_hex(*id), owner));
  }
  std::string json;
  storage::append_shown_json(json, **branch);
  co_return json_response(200, std::move(json));
}

}  // namespace halite::web
