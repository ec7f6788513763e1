// Walks through binary operators and their operands in the order of the text, without recursion:
// a + b + c + ... may have any number of operands, and is no nesting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "query/promql/tree.h"

namespace halite::query::promql {

enum class Visit : std::uint8_t {
  kBefore,   // an operator, before its left side
  kBetween,  // before its right side
  kAfter,
  kOperand,  // what is no binary operator
};

// `Node` is Expr or const Expr. The tree outlives it and does not change but for its operands.
template <class Node>
class OperatorWalk {
 public:
  struct Step {
    Visit visit;
    Node* expr;
  };

  explicit OperatorWalk(Node& expr) { open_.push_back({&expr}); }

  // None: the end.
  std::optional<Step> next() {
    while (!open_.empty()) {
      Open& last = open_.back();
      auto* const binary = std::get_if<Binary>(&last.expr->node);
      Node* const expr = last.expr;
      if (binary == nullptr) {
        open_.pop_back();
        return Step{Visit::kOperand, expr};
      }
      switch (last.place++) {
        case 0:
          return Step{Visit::kBefore, expr};
        case 1:
          open_.push_back({binary->left.get()});
          break;
        case 2:
          return Step{Visit::kBetween, expr};
        case 3:
          open_.push_back({binary->right.get()});
          break;
        default:
          open_.pop_back();
          return Step{Visit::kAfter, expr};
      }
    }
    return std::nullopt;
  }
  // Leaves out both sides of the operator that was before.
  void skip_sides() { open_.pop_back(); }
  // Operators around what the last step was about, without itself. Not after skip_sides().
  [[nodiscard]] std::size_t depth(Visit visit) const {
    return visit == Visit::kBefore || visit == Visit::kBetween ? open_.size() - 1 : open_.size();
  }

 private:
  struct Open {
    Node* expr;
    int place = 0;
  };
  std::vector<Open> open_;
};

}  // namespace halite::query::promql
