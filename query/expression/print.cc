#include "query/expression/print.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace halite::query {
namespace {

// In the order of ExpressionOp; empty where an operation has no one symbol.
constexpr auto kSymbols = std::to_array<std::string_view>(
    {"",    "",    "",     "-",    "!",   "~",    " * ",  " / ",  " % ",
     " + ", " - ", " < ",  " <= ", " > ", " >= ", " == ", " != ", " & ",
     " ^ ", " | ", " && ", " || ", "",    " ?: ", "",     "; "});
static_assert(kSymbols.size() == static_cast<std::size_t>(ExpressionOp::kScript) + 1);

class Printer {
 public:
  Printer(const ExpressionNode* mark, PrintedExpression& to) : mark_(mark), to_(to) {}

  void print(const ExpressionNode& node) {
    if (&node == mark_) to_.begin = to_.text.size();
    write(node);
    if (&node == mark_) to_.end = to_.text.size();
  }

 private:
  void write(const ExpressionNode& node) {
    switch (node.op) {
      case ExpressionOp::kLiteral:
      case ExpressionOp::kVariable:
        to_.text += node.text;
        return;
      case ExpressionOp::kGroup:
        to_.text += '(';
        print(*node.children[0]);
        to_.text += ')';
        return;
      case ExpressionOp::kAssign:
        to_.text += node.text;
        to_.text += " = ";
        print(*node.children[0]);
        return;
      case ExpressionOp::kTernary:
        print(*node.children[0]);
        to_.text += " ? ";
        print(*node.children[1]);
        to_.text += " : ";
        print(*node.children[2]);
        return;
      default:
        break;
    }
    const std::string_view symbol = kSymbols[static_cast<std::size_t>(node.op)];
    if (node.children.size() == 1) to_.text += symbol;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (i > 0) to_.text += symbol;
      print(*node.children[i]);
    }
  }

  const ExpressionNode* mark_;
  PrintedExpression& to_;
};

}  // namespace

PrintedExpression print_expression(const Expression& expression, const ExpressionNode* mark) {
  PrintedExpression printed;
  Printer(mark, printed).print(*expression.root);
  printed.text += ';';
  return printed;
}

}  // namespace halite::query
