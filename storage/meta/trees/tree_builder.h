// Applies a tree's rules to a series and returns its branches and leaf. Pure; stores nothing.
//
// Rules of one level are alternatives, in order; a separator splits one value into several levels.
// Levels without a match are skipped. The last name is the leaf.
//
//   Threads  call run() from any thread.
//   Errors   kInvalidArgument: a rule that cannot be applied to this series.
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

// The place of a series.
struct TreePath {
  // The first branch under the root; each branch contains at most one branch. Null if the rules
  // yield no branch, or only a leaf.
  std::shared_ptr<TreeBranch> branch;
  std::vector<TreeLeaf> root_leaves;
  std::string not_matched;            // rules of levels without a match
  std::vector<std::string> messages;  // the steps, in OpenTSDB's words
};

class TreeBuilder {
 public:
  explicit TreeBuilder(Tree tree);
  ~TreeBuilder();
  TreeBuilder(const TreeBuilder&) = delete;

  [[nodiscard]] const Tree& tree() const { return tree_; }

  // The series with its names' objects. Sets the paths.
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
