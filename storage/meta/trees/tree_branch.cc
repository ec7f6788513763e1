#include "storage/meta/trees/tree_branch.h"

#include <algorithm>
#include <iterator>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/java/java_map.h"
#include "common/json_string.h"
#include "storage/meta/objects/json_fields.h"

namespace halite::storage {

namespace json = boost::json;

namespace {

void append_hash(Bytes& to, std::string_view name) {
  append_be(to, static_cast<std::uint32_t>(java_string_hash(name)));
}

void append_path(std::string& to, const std::vector<std::string>& path) {
  to += '{';
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0) to += ',';
    fmt::format_to(std::back_inserter(to), "\"{}\":", i);
    append_json_string(to, path[i]);
  }
  to += '}';
}

bool less_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::lexicographical_compare(
      a, b, [](char x, char y) { return to_lower(x) < to_lower(y); });
}

void append_leaf(std::string& to, const TreeLeaf& leaf) {
  to += "{\"metric\":";
  append_json_string(to, leaf.metric);
  to += ",\"tags\":";
  if (leaf.tags) {
    to += '{';
    for (const auto& [key, value] : *leaf.tags) {
      if (to.back() != '{') to += ',';
      append_json_string(to, key);
      to += ':';
      append_json_string(to, value);
    }
    to += '}';
  } else {
    to += "null";
  }
  to += ",\"displayName\":";
  append_json_string(to, leaf.display_name);
  to += ",\"tsuid\":";
  append_json_string(to, leaf.tsuid);
  to += '}';
}

void append_leaves(std::string& to, const std::vector<TreeLeaf>& leaves) {
  if (leaves.empty()) {
    to += "null";
    return;
  }
  std::vector<const TreeLeaf*> sorted;
  for (const TreeLeaf& leaf : leaves) sorted.push_back(&leaf);
  std::ranges::sort(sorted, [](const TreeLeaf* a, const TreeLeaf* b) {
    return less_ignoring_case(a->display_name, b->display_name);
  });
  to += '[';
  for (const TreeLeaf* leaf : sorted) {
    if (to.back() != '[') to += ',';
    append_leaf(to, *leaf);
  }
  to += ']';
}

void append_branches(std::string& to, const TreeBranch& branch) {
  if (branch.branches.empty()) {
    to += "null";
    return;
  }
  std::vector<const TreeBranch*> sorted;
  for (const auto& child : branch.branches) sorted.push_back(child.get());
  std::ranges::sort(sorted, [](const TreeBranch* a, const TreeBranch* b) {
    return less_ignoring_case(a->display_name, b->display_name);
  });
  to += '[';
  for (const TreeBranch* child : sorted) {
    if (to.back() != '[') to += ',';
    append_shown_json(to, *child);
  }
  to += ']';
}

}  // namespace

Bytes tree_row(std::int32_t tree_id) {
  Bytes row;
  append_be(row, static_cast<std::uint16_t>(tree_id));
  return row;
}

Bytes branch_id(const TreeBranch& branch) {
  Bytes id = tree_row(branch.tree_id);
  for (std::size_t i = 1; i < branch.path.size(); ++i) append_hash(id, branch.path[i]);
  return id;
}

Bytes leaf_qualifier(std::string_view display_name) {
  Bytes qualifier = "leaf:";
  append_hash(qualifier, display_name);
  return qualifier;
}

std::string stored_json(const TreeBranch& branch) {
  std::string text = "{\"path\":";
  append_path(text, branch.path);
  text += ",\"displayName\":";
  append_json_string(text, branch.display_name);
  text += '}';
  return text;
}

std::string stored_json(const TreeLeaf& leaf) {
  std::string text = "{\"displayName\":";
  append_json_string(text, leaf.display_name);
  text += ",\"tsuid\":";
  append_json_string(text, leaf.tsuid);
  text += '}';
  return text;
}

Result<TreeBranch> parse_stored_branch(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  TreeBranch branch;
  for (const auto& [key, value] : object) {
    const std::string_view name = key;
    if (name == "displayName") {
      TRY(const std::optional<std::string> shown, text_field(name, value));
      branch.display_name = shown.value_or(std::string());
    } else if (name == "path") {
      TRY(const std::optional<CustomFields> path, custom_field(name, value));
      if (!path) continue;
      for (std::size_t depth = 0; depth < path->size(); ++depth) {
        const auto step = path->find(std::to_string(depth));
        if (step == path->end()) {
          return fail(Errc::kInvalidArgument, fmt::format("the path has no step {}", depth));
        }
        branch.path.push_back(step->second.value_or(std::string()));
      }
    }
  }
  return branch;
}

Result<TreeLeaf> parse_stored_leaf(std::string_view text) {
  TRY(const json::object object, parse_json_object(text));
  TreeLeaf leaf;
  for (const auto& [key, value] : object) {
    const std::string_view name = key;
    if (name != "displayName" && name != "tsuid") continue;
    TRY(const std::optional<std::string> field, text_field(name, value));
    (name == "tsuid" ? leaf.tsuid : leaf.display_name) = field.value_or(std::string());
  }
  return leaf;
}

void append_shown_json(std::string& to, const TreeBranch& branch) {
  to += "{\"leaves\":";
  append_leaves(to, branch.leaves);
  to += ",\"branches\":";
  append_branches(to, branch);
  to += ",\"path\":";
  append_path(to, branch.path);
  fmt::format_to(std::back_inserter(to),
                 ",\"treeId\":{},\"branchId\":\"{}\",\"depth\":{},\"displayName\":", branch.tree_id,
                 to_hex(branch_id(branch)), branch.path.empty() ? 0 : branch.path.size() - 1);
  append_json_string(to, branch.display_name);
  to += '}';
}

}  // namespace halite::storage
