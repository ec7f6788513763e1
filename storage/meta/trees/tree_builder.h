// Runs a tree's rules over a series: which branches it hangs on, under which leaf. Pure; nothing is
// stored.
//
// Rules of one level are alternatives in their order, levels follow each other; a separator makes
// several levels of one value. A level that matches nothing is skipped. The last name is the leaf.
//
//   Threads  run() from any thread.
//   Errors   kInvalidArgument: a rule that cannot be used on this series.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "storage/meta/objects/ts_meta.h"
#include "storage/meta/trees/tree.h"
#include "storage/meta/trees/tree_branch.h"

namespace re2 {
class RE2;
}

namespace halite::storage {

// What becomes of a series.
struct TreePath {
  // The first branch under the root, each with at most one branch in it. Nothing where the rules
  // give no branch, which is also so where they give only a leaf.
  std::shared_ptr<TreeBranch> branch;
  std::vector<TreeLeaf> root_leaves;
  std::string not_matched;            // the rules of levels that nothing matched
  std::vector<std::string> messages;  // what was tried, in OpenTSDB's words
};

class TreeBuilder {
 public:
  explicit TreeBuilder(Tree tree);
  ~TreeBuilder();
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;

  [[nodiscard]] const Tree& tree() const { return tree_; }

  // The series with its names' objects. Paths are filled in.
  [[nodiscard]] Result<TreePath> run(const TsMeta& series) const;

 private:
  class Run;
  struct Patterns {
    std::unique_ptr<re2::RE2> regex;      // null: none
    std::unique_ptr<re2::RE2> separator;  // null: none
  };

  const Tree tree_;
  std::map<std::pair<std::int32_t, std::int32_t>, Patterns> patterns_;  // by level and order
};

// The root of a tree, with its path.
[[nodiscard]] TreeBranch tree_root(std::int32_t tree_id);

}  // namespace halite::storage
