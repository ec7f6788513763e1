#include "query/expression/print.h"

#include <string_view>

namespace halite::query {
namespace {

std::string_view symbol_of(ExpressionOp op) {
  switch (op) {
    case ExpressionOp::kMultiply:
      return " * ";
    case ExpressionOp::kDivide:
      return " / ";
    case ExpressionOp::kModulo:
      return " % ";
    case ExpressionOp::kAdd:
      return " + ";
    case ExpressionOp::kSubtract:
      return " - ";
    case ExpressionOp::kLess:
      return " < ";
    case ExpressionOp::kLessEqual:
      return " <= ";
    case ExpressionOp::kGreater:
      return " > ";
    case ExpressionOp::kGreaterEqual:
      return " >= ";
    case ExpressionOp::kEqual:
      return " == ";
    case ExpressionOp::kNotEqual:
      return " != ";
    case ExpressionOp::kBitAnd:
      return " & ";
    case ExpressionOp::kBitXor:
      return " ^ ";
    case ExpressionOp::kBitOr:
      return " | ";
    case ExpressionOp::kAnd:
      return " && ";
    case ExpressionOp::kOr:
      return " || ";
    case ExpressionOp::kElvis:
      return " ?: ";
    case ExpressionOp::kScript:
      return "; ";
    case ExpressionOp::kNegate:
      return "-";
    case ExpressionOp::kNot:
      return "!";
    case ExpressionOp::kBitNot:
      return "~";
    default:
      return "";
  }
}

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
    const std::string_view symbol = symbol_of(node.op);
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
