// GET, POST, PUT /api/tree/test: where a tree's rules would put series. Stores nothing.
//
// Parameters  treeid, tsuids=A,B; or a body {"treeId","tsuids":[..]}
// Answer      200 {"<tsuid>":{"messages":[the steps],"branch":<the root with the branches for the
//             series>,"meta":<its TSMeta>},..}; branch and meta are null for unknown series
// Errors      400 no tree or no series named, a rule that does not fit a series; 404 no such tree

#include "common/json_list.h"
#include "common/json_string.h"
#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/handlers/tree_request.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

void append_messages(std::string& to, const std::vector<std::string>& messages) {
  to += "\"messages\":";
  append_json_texts(to, messages);
}

std::string nothing(std::string message) {
  std::string json = "{";
  append_messages(json, {std::move(message)});
  json += ",\"branch\":null,\"meta\":null}";
  return json;
}

Task<std::string> try_series(storage::TsMetaStore& store, const storage::TreeBuilder& builder,
                             std::string text) {
  CO_TRY(Bytes tsuid, storage::tsuid_bytes(text));
  const Result<std::optional<storage::TsMeta>> series = co_await store.get(std::move(tsuid));
  if (!series && series.error().code == Errc::kNotFound) {
    co_return nothing("TSUID was missing a UID name: " + series.error().message);
  }
  if (!series) co_return std::unexpected(series.error());
  if (!*series) co_return nothing("Unable to locate TSUID meta data");
  CO_TRY(storage::TreePath place, builder.run(**series));
  storage::TreeBranch root = storage::tree_root(builder.tree().id);
  const bool refused = builder.tree().strict_match && !place.not_matched.empty();
  if (refused) {
    place.messages.push_back("TSUID failed to match one or more rule levels, will not add: " +
                             (*series)->tsuid);
  } else if (place.branch) {
    root.branches.push_back(place.branch);
  }
  root.leaves = std::move(place.root_leaves);
  std::string json = "{";
  append_messages(json, place.messages);
  json += ",\"branch\":";
  storage::append_shown_json(json, root);
  json += ",\"meta\":";
  storage::append_shown_json(json, **series);
  json += '}';
  co_return json;
}

}  // namespace

asio::awaitable<Response> handle_tree_trial(Call& call) {
  std::expected<TreeSeries, Response> wanted = tree_series(call);
  if (!wanted) co_return std::move(wanted.error());
  std::expected<storage::Tree, Response> tree = co_await find_tree(call, wanted->tree);
  if (!tree) co_return std::move(tree.error());
  if (wanted->tsuids.empty()) co_return error_response(call, 400, "Missing or empty TSUID list");
  if (call.request.method != "GET" && !changes_method(call)) co_return unsupported_method(call);
  const storage::TreeBuilder builder(std::move(*tree));
  std::string json = "{";
  for (const std::string& tsuid : wanted->tsuids) {
    const Result<std::string> tried =
        co_await try_series(call.services.metadata.ts_metas(), builder, tsuid);
    if (!tried) co_return tree_error(call, tried.error());
    if (json.size() > 1) json += ',';
    append_json_string(json, tsuid);
    json += ':';
    json += *tried;
  }
  json += '}';
  co_return json_response(200, std::move(json));
}

}  // namespace halite::web
