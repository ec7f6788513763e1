// Writes expressions in one line, whole or only as far as a line reaches.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "query/promql/tree.h"

namespace halite::query::promql {

class Printer {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // Stops soon behind `bytes_max` bytes. `before_arithmetic`: + - * / % or ^ follows the text.
  explicit Printer(std::size_t bytes_max = kNoLimit, bool before_arithmetic = false)
      : bytes_max_(bytes_max), before_arithmetic_(before_arithmetic) {}

  void expr(const Expr& expr);
  // sum by (a) and a blank, or sum
  void aggregation_head(const Aggregation& node);
  // +, == bool, / on (a) group_left (b)
  void binary_head(const Binary& node);
  // [5m:1m] @ 5.000 offset 1m
  void subquery_suffix(const Subquery& node);

  [[nodiscard]] bool is_full() const { return text_.size() > bytes_max_ || is_deep_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void write(const NumberLiteral& node);
  void write(const StringLiteral& node);
  void write(const VectorSelector& node);
  void write(const MatrixSelector& node);
  void write(const Subquery& node);
  void write(const Call& node);
  void write(const Aggregation& node);
  void write(const Binary& /*node*/) {}  // expr() writes operators
  void write(const Unary& node);
  void write(const Parentheses& node);

  void selector(const VectorSelector& node);
  void labels(const std::vector<std::string>& labels);
  void at(const TimeModifiers& time);
  void extension(Extension extension);
  void offset(const Duration& offset);
  void duration(const Duration& duration);
  void duration_expr(const DurationExpr& expr);
  void enclosed(const Expr& expr);  // in parentheses or between commas

  std::size_t bytes_max_;
  bool is_deep_ = false;    // there are more operators than bytes
  bool before_arithmetic_;  // the parser would take the operator as a part of offset (1m)
  std::string text_;
};

// The operator as in min_of(a, b), step() or a + b; "" of a number.
[[nodiscard]] std::string_view duration_symbol(DurationOp op);

// Of Inf ^ 2: +Inf ^ 2 is +(Inf ^ 2).
[[nodiscard]] bool has_infinite_base(const Binary& node);

// Whether both sides of the operator are instant vectors, so that its matching means something.
[[nodiscard]] bool matches_vectors(const Binary& node);

}  // namespace halite::query::promql
