// An expression of /api/query/exp as a tree: the part of Apache JEXL 2.1 that works on numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace halite::query {

enum class ExpressionOp : std::uint8_t {
  kLiteral,
  kVariable,
  kGroup,  // (child)
  kNegate,
  kNot,
  kBitNot,
  kMultiply,
  kDivide,
  kModulo,
  kAdd,
  kSubtract,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kBitAnd,
  kBitXor,
  kBitOr,
  kAnd,
  kOr,
  kTernary,  // child ? child : child
  kElvis,    // child ?: child
  kAssign,   // variable = child
  kScript,   // child; child; ..: the value of the last one
};

struct Null {
  bool operator==(const Null&) const = default;
};
// A number with a decimal point. Alone it is not a valid result (Java's Float); in arithmetic it is
// a double.
struct RealLiteral {
  double value = 0;
  bool operator==(const RealLiteral&) const = default;
};
using ExpressionValue = std::variant<Null, bool, std::int64_t, RealLiteral, double>;

struct ExpressionNode {
  ExpressionOp op = ExpressionOp::kLiteral;
  std::string text;          // a literal as written, or a variable's name
  ExpressionValue value;     // for kLiteral
  std::size_t variable = 0;  // for kVariable and kAssign: index into Expression::variables
  std::vector<std::unique_ptr<ExpressionNode>> children;
};

// A parsed expression. Immutable; use it from any thread.
struct Expression {
  std::unique_ptr<ExpressionNode> root;
  std::vector<std::string> variables;  // unique, in order of first appearance
};

struct ExpressionLimits {
  std::size_t bytes_max = 4096;
  std::size_t depth_max = 64;  // nesting of brackets, signs and so on
};

}  // namespace halite::query
