// Stores trees, their rules, branches and leaves in the table tsdb-tree, family "t".
//
//   row                          cell                        value
//   tree id(2)                   tree                        definition
//   tree id(2)                   tree_rule:<level>:<order>   rule
//   tree id(2) 01                tree_collision:<tsuid>      the tsuid that was there first
//   tree id(2) 02                tree_not_matched:<tsuid>    the rules that did not match
//   branch id                    branch, leaf:<hash>         (tree_branch.h)
//
//   Threads  call from any thread; concurrent edits of an object all take effect.
//   Errors   kInvalidArgument, with OpenTSDB's messages; kTooLarge: a branch with more than
//            answer_max leaves and branches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/meta/trees/tree.h"
#include "storage/meta/trees/tree_branch.h"
#include "storage/meta/trees/tree_builder.h"

namespace halite::storage {

struct TreeOptions {
  std::size_t answer_max = 100'000;  // meta.tree_answer_max: leaves and branches of one branch
};

class TreeStore {
 public:
  // Both must outlive the store.
  TreeStore(std::shared_ptr<Table> table, UidTable& uids, UidWidths widths, TreeOptions options);

  // The tree with its rules; nullopt if there is no such tree.
  Task<std::optional<Tree>> get(std::int32_t id);
  Task<std::vector<Tree>> all();

  // Creates a tree with the next id, and returns the id.
  Task<std::int32_t> create(TreeEdit edit);
  // Changes the fields that the edit gives; `replace` resets the others.
  Task<void> change(TreeEdit edit, bool replace);
  // Deletes branches, leaves and failures; with `definition` also the tree and its rules.
  Task<void> remove(std::int32_t id, bool definition);

  // False: the stored rule is equal already.
  Task<bool> put_rule(TreeRule edit, bool replace);
  Task<void> remove_rule(std::int32_t tree, std::int32_t level, std::int32_t order);
  Task<void> remove_rules(std::int32_t tree);

  // A branch with its child branches and its leaves with names. Omits leaves with a uid that has no
  // name.
  Task<std::optional<TreeBranch>> branch(Bytes id);

  enum class Failure : std::uint8_t { kCollision, kNotMatched };
  // By tsuid; only of these tsuids, or of all if empty.
  Task<std::map<std::string, std::string>> failures(Failure kind, std::int32_t tree,
                                                    std::vector<Bytes> tsuids);

  // Changes with every edit of a tree or a rule through this object.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  // Stores a series at its place.
  Task<void> add_series(const Tree& tree, const TreePath& place, Bytes tsuid);

 private:
  Task<std::vector<Row>> read_row(Bytes row, std::vector<Bytes> qualifiers);
  Task<std::vector<Bytes>> child_keys(Bytes id);
  Task<void> name_leaves(TreeBranch& branch);
  Task<void> put_branch(const TreeBranch& branch);
  // The tsuid that is stored there, if it is another.
  Task<std::optional<std::string>> put_leaf(Bytes branch, const TreeLeaf& leaf);
  Task<void> put_failure(Failure kind, std::int32_t tree, Bytes tsuid, std::string text);

  const std::shared_ptr<Table> table_;
  UidTable& uids_;
  const UidWidths widths_;
  const TreeOptions options_;
  std::atomic<std::uint64_t> version_ = 0;
};

[[nodiscard]] TableSpec tree_table_spec(std::string name);

}  // namespace halite::storage
