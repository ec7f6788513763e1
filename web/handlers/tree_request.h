// Helpers shared by the tree endpoints: ids and lists from the request, and their refusals.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/meta/trees/tree.h"
#include "web/endpoint.h"

namespace halite::web {

// The parameter treeid; 0 if it is absent and optional.
[[nodiscard]] std::expected<std::int32_t, Response> tree_id(const Call& call, bool required);

// A tree and some series: treeid and tsuids=A,B, or a body {"treeId","tsuids":[..]}.
struct TreeSeries {
  std::int32_t tree = 0;
  std::vector<std::string> tsuids;  // hexadecimal
};
[[nodiscard]] std::expected<TreeSeries, Response> tree_series(const Call& call);

// The tree, or the refusal: 404 "Unable to locate tree: 1", 400 "Invalid Tree ID".
[[nodiscard]] boost::asio::awaitable<std::expected<storage::Tree, Response>> find_tree(
    const Call& call, std::int32_t id);

[[nodiscard]] Response unsupported_method(const Call& call);
[[nodiscard]] Response tree_error(const Call& call, const Error& error);

[[nodiscard]] bool changes_method(const Call& call);  // POST or PUT

}  // namespace halite::web
