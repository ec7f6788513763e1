// A branch of a tree with its leaves, and their JSON.
//
//   id      tree id(2) · Java's hash(4) of each display name from depth 1 on; also the row's key
//   stored  {"path":{"0":"ROOT","1":"a"},"displayName":"a"} in the cell "branch";
//           {"displayName":"cpu","tsuid":".."} in the cell "leaf:" + Java's hash(4) of the name
//   shown   {"leaves":[{"metric","tags","displayName","tsuid"}],"branches":[..],"path":{..},
//           "treeId","branchId","depth","displayName"}; no leaves, no branches: null
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"

namespace halite::storage {

struct TreeLeaf {
  std::string display_name;
  std::string tsuid;  // hexadecimal
  // Set where the leaf is shown with its names.
  std::string metric;
  std::optional<std::map<std::string, std::string>> tags;
};

struct TreeBranch {
  std::int32_t tree_id = 0;
  std::string display_name;
  std::vector<std::string> path;  // from "ROOT" to display_name
  std::vector<TreeLeaf> leaves;
  std::vector<std::shared_ptr<TreeBranch>> branches;
};

[[nodiscard]] Bytes tree_row(std::int32_t tree_id);
[[nodiscard]] Bytes branch_id(const TreeBranch& branch);
[[nodiscard]] Bytes leaf_qualifier(std::string_view display_name);

[[nodiscard]] std::string stored_json(const TreeBranch& branch);
[[nodiscard]] std::string stored_json(const TreeLeaf& leaf);
[[nodiscard]] Result<TreeBranch> parse_stored_branch(std::string_view json);
[[nodiscard]] Result<TreeLeaf> parse_stored_leaf(std::string_view json);

// Leaves and branches are ordered by name, ignoring case.
void append_shown_json(std::string& to, const TreeBranch& branch);

}  // namespace halite::storage
