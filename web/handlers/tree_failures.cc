// GET, POST, PUT /api/tree/collisions and /api/tree/notmatched: series without a leaf in a tree.
//
// Parameters  treeid, tsuids=A,B (absent: all); or a body {"treeId","tsuids":[..]}
// Answer      200 {"<tsuid>":"..",..}: the series that already had the leaf; the rules that did
//             not match. Only trees with storeFailures record them
// Errors      400 no tree named, another method; 404 no such tree
#include "common/json_string.h"
#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/tree_request.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

asio::awaitable<Response> show_failures(Call& call, storage::TreeStore::Failure kind) {
  std::expected<TreeSeries, Response> wanted = tree_series(call);
  if (!wanted) co_return std::move(wanted.error());
  std::expected<storage::Tree, Response> tree = co_await find_tree(call, wanted->tree);
  if (!tree) co_return std::move(tree.error());
  if (call.request.method != "GET" && !changes_method(call)) co_return unsupported_method(call);
  std::vector<Bytes> tsuids;
  for (const std::string& text : wanted->tsuids) {
    Result<Bytes> tsuid = storage::tsuid_bytes(text);
    if (!tsuid) co_return wrong_argument(call, tsuid.error());
    tsuids.push_back(std::move(*tsuid));
  }
  const auto found =
      co_await call.services.metadata.trees().failures(kind, wanted->tree, std::move(tsuids));
  if (!found) co_return tree_error(call, found.error());
  std::string json = "{";
  for (const auto& [tsuid, text] : *found) {
    if (json.size() > 1) json += ',';
    append_json_string(json, tsuid);
    json += ':';
    append_json_string(json, text);
  }
  json += '}';
  co_return json_response(200, std::move(json));
}

}  // namespace

asio::awaitable<Response> handle_tree_collisions(Call& call) {
  co_return co_await show_failures(call, storage::TreeStore::Failure::kCollision);
}

asio::awaitable<Response> handle_tree_not_matched(Call& call) {
  co_return co_await show_failures(call, storage::TreeStore::Failure::kNotMatched);
}

}  // namespace halite::web
