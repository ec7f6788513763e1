// An expression of PromQL as a tree, as the parser makes it: types are checked, names of functions
// are resolved. Times are in milliseconds.
//
// Over 140 lines because an expression and its kinds refer to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/clock.h"
#include "query/selector/label_matcher.h"

namespace halite::query::promql {

// "scalar", "string", "instant vector" and "range vector" in messages.
enum class ValueType : std::uint8_t { kScalar, kString, kVector, kMatrix };
[[nodiscard]] std::string_view type_name(ValueType type);
// "scalar", "string", "vector" and "matrix" in answers.
[[nodiscard]] std::string_view type_word(ValueType type);

// Bytes of the text, from 0.
struct Position {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

// Arithmetic in the place of a duration: [5m*2], offset (1m+2m).
struct DurationExpr;
using DurationExprPtr = std::unique_ptr<DurationExpr>;

enum class DurationOp : std::uint8_t {
  kNumber,
  kStep,   // step(): that of a range query, otherwise 0
  kRange,  // range(): from the first to the last time of the query
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
  kNegate,
  kPlus,  // a sign of one that is no number
  kMin,   // min_of(a, b)
  kMax,
  kParentheses,
};

struct DurationExpr {
  Position at;
  DurationOp op = DurationOp::kNumber;
  double seconds = 0;               // of kNumber
  bool written_as_duration = true;  // kNumber: 5m, not 300
  DurationExprPtr left;             // of one operand: this
  DurationExprPtr right;
};

// A range, a step or an offset.
struct Duration {
  std::int64_t ms = 0;   // if `expr` is set: after resolve_durations()
  DurationExprPtr expr;  // null: a literal
};

enum class AtKind : std::uint8_t { kNone, kTime, kStart, kEnd };

// offset and @ behind a selector or a subquery.
struct TimeModifiers {
  Duration offset;
  AtKind at = AtKind::kNone;
  TimestampMs at_ms = 0;  // of kTime
};

struct NumberLiteral {
  double value = 0;
  bool is_duration = false;  // written as 1h30m
};

struct StringLiteral {
  std::string value;
};

// Samples besides those of the window that a selector uses; experimental.
enum class Extension : std::uint8_t {
  kNone,
  kAnchored,  // the newest one before the window
  kSmoothed,  // those around both ends, between which there is a line
};
[[nodiscard]] std::string_view extension_name(Extension extension);  // "" of none

struct VectorSelector {
  std::string name;                    // before the braces; also one of the matchers; may be empty
  std::vector<LabelMatcher> matchers;  // in the order of the text; that of `name` is the last
  TimeModifiers time;
  Extension extension = Extension::kNone;
};

struct MatrixSelector {
  VectorSelector selector;
  Position selector_at;
  Duration range;
};

struct Subquery {
  ExprPtr expr;
  Duration range;
  Duration step;  // 0: the default one
  TimeModifiers time;
};

// A function and the types of its arguments (functions.cc lists all).
struct Function {
  std::string_view name;
  std::vector<ValueType> arguments;
  int variadic;  // 0: exactly `arguments`; n > 0: the last may be left out, or be there n times;
                 // -1: it may be left out, or be there any number of times
  ValueType returns;
  bool experimental;  // only with query.promql_experimental
};
[[nodiscard]] const Function* find_function(std::string_view name);  // case matters; may be null

struct Call {
  const Function* function = nullptr;
  std::vector<ExprPtr> arguments;
};

enum class AggregateOp : std::uint8_t {
  kSum,
  kAvg,
  kCount,
  kMin,
  kMax,
  kGroup,
  kStddev,
  kStdvar,
  kTopk,
  kBottomk,
  kCountValues,
  kQuantile,
  kLimitk,      // experimental
  kLimitRatio,  // experimental
};
[[nodiscard]] std::string_view aggregate_name(AggregateOp op);

struct Aggregation {
  AggregateOp op = AggregateOp::kSum;
  ExprPtr expr;
  ExprPtr parameter;  // null if the operator has none
  std::vector<std::string> grouping;
  bool without = false;
};

enum class BinaryOp : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
  kAtan2,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kTrimUpper,  // </: of histograms only
  kTrimLower,  // >/
  kAnd,
  kOr,
  kUnless,
};
[[nodiscard]] std::string_view binary_symbol(BinaryOp op);
// + - * / % and ^, which durations have, too.
[[nodiscard]] constexpr bool is_duration_operator(BinaryOp op) { return op <= BinaryOp::kPower; }
[[nodiscard]] constexpr bool is_comparison(BinaryOp op) {
  return op >= BinaryOp::kEqual && op <= BinaryOp::kGreaterEqual;
}
[[nodiscard]] constexpr bool is_set_operator(BinaryOp op) { return op >= BinaryOp::kAnd; }

enum class MatchCardinality : std::uint8_t { kOneToOne, kManyToOne, kOneToMany, kManyToMany };

// Which elements of two instant vectors belong together.
struct VectorMatching {
  MatchCardinality cardinality = MatchCardinality::kOneToOne;
  std::vector<std::string> labels;
  bool on = false;                   // `labels` are those that matter; otherwise those that do not
  std::vector<std::string> include;  // of group_left and group_right
  std::optional<double> fill_left;   // experimental
  std::optional<double> fill_right;
};

struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  ExprPtr left;
  ExprPtr right;
  bool returns_bool = false;
  VectorMatching matching;  // if both sides are instant vectors
};

struct Unary {
  bool negates = false;  // -x; otherwise +x
  ExprPtr expr;
};

struct Parentheses {
  ExprPtr expr;
};

struct Expr {
  Expr() = default;
  Expr(const Expr&) = delete;
  ~Expr();  // without recursion through long chains of operators

  Position at;
  ValueType type = ValueType::kScalar;
  std::variant<NumberLiteral, StringLiteral, VectorSelector, MatrixSelector, Subquery, Call,
               Aggregation, Binary, Unary, Parentheses>
      node;
};

// The expression without parentheses around it.
[[nodiscard]] const Expr& without_parentheses(const Expr& expr);

}  // namespace halite::query::promql
