#include "web/handlers/tree_request.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "query/parse/text.h"
#include "storage/meta/metadata.h"
#include "storage/meta/objects/json_fields.h"
#include "web/handlers/meta_answers.h"

namespace halite::web {

namespace {

Result<TreeSeries> parse_series_body(std::string_view body) {
  TRY(const boost::json::object object, storage::parse_json_object(body));
  TreeSeries wanted;
  for (const auto& [key, value] : object) {
    const std::string_view name = key;
    if (name == "treeId") {
      TRY(wanted.tree, storage::int_field(name, value));
    } else if (name == "tsuids") {
      TRY(std::optional<std::vector<std::string>> tsuids, storage::texts_field(name, value));
      wanted.tsuids = std::move(tsuids).value_or(std::vector<std::string>());
    }
  }
  return wanted;
}

}  // namespace

std::expected<std::int32_t, Response> tree_id(const Call& call, bool required) {
  const std::string_view text = call.target.get("treeid");
  if (required && text.empty()) return std::unexpected(missing_parameter(call, "treeid"));
  if (!call.target.has("treeid")) return 0;
  std::int32_t id = 0;
  if (read_number(text, id)) return id;
  return std::unexpected(error_response(call, 400, "Unable to parse 'tree' value",
                                        fmt::format("For input string: \"{}\"", text)));
}

std::expected<TreeSeries, Response> tree_series(const Call& call) {
  if (!call.request.body.empty()) {
    Result<TreeSeries> wanted = parse_series_body(call.request.body);
    if (!wanted) return std::unexpected(mistake_response(call, wanted.error()));
    if (wanted->tree == 0) {
      return std::unexpected(error_response(call, 400, "Missing or invalid Tree ID"));
    }
    return std::move(*wanted);
  }
  std::expected<std::int32_t, Response> id = tree_id(call, true);
  if (!id) return std::unexpected(std::move(id.error()));
  TreeSeries wanted{.tree = *id, .tsuids = {}};
  if (!call.target.get("tsuids").empty()) {
    for (const std::string_view tsuid : query::split_trimmed(call.target.get("tsuids"), ',')) {
      wanted.tsuids.emplace_back(tsuid);
    }
  }
  return wanted;
}

boost::asio::awaitable<std::expected<storage::Tree, Response>> find_tree(const Call& call,
                                                                         std::int32_t id) {
  Result<std::optional<storage::Tree>> found = co_await call.services.metadata.trees().get(id);
  if (!found) co_return std::unexpected(tree_error(call, found.error()));
  if (!*found) {
    co_return std::unexpected(
        error_response(call, 404, fmt::format("Unable to locate tree: {}", id)));
  }
  co_return std::move(**found);
}

Response unsupported_method(const Call& call) {
  return error_response(call, 400, "Unsupported HTTP request method");
}

Response tree_error(const Call& call, const Error& error) {
  if (error.code == Errc::kInvalidArgument) return wrong_argument(call, error);
  return error_response(call, error);
}

bool changes_method(const Call& call) {
  return call.request.method == "POST" || call.request.method == "PUT";
}

}  // namespace halite::web
