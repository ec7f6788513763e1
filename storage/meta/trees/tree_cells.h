// Limits of tree ids and names of the cells of the tree table. Private to tree_store*.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/meta/trees/tree.h"

namespace halite::storage::tree_cells {

inline constexpr Family kFamily = 0;
inline constexpr std::string_view kTree = "tree";
inline constexpr std::string_view kRulePrefix = "tree_rule:";
inline constexpr std::string_view kBranch = "branch";
inline constexpr std::string_view kLeafPrefix = "leaf:";
inline constexpr std::string_view kCollisionPrefix = "tree_collision:";
inline constexpr std::string_view kNotMatchedPrefix = "tree_not_matched:";

inline Result<void> check_id(std::int32_t id) {
  if (id >= 1 && id <= kTreeIdMax) return {};
  return fail(Errc::kInvalidArgument, "Invalid Tree ID");
}

inline Column column(std::string_view qualifier) { return Column{kFamily, Bytes(qualifier)}; }

inline std::unexpected<Error> damaged(BytesView row, BytesView qualifier, const Error& error) {
  return fail(Errc::kCorruption, fmt::format("tree table, row {}, cell {}: {}", to_hex(row),
                                             to_hex(qualifier), error.message));
}

}  // namespace halite::storage::tree_cells
