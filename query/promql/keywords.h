// The words of PromQL with a meaning of their own.
#pragma once

#include <string_view>

#include "query/promql/lexer.h"

namespace halite::query::promql {

struct Keyword {
  std::string_view name;  // lower case
  TokenKind kind;
  BinaryOp op = BinaryOp::kAdd;               // of kBinary
  AggregateOp aggregate = AggregateOp::kSum;  // of kAggregate
};

// In any case of letters; null: an identifier.
[[nodiscard]] const Keyword* find_keyword(std::string_view word);

// + or -.
[[nodiscard]] bool is_sign(const Token& token);
// Where an expression may begin: with a name of a metric, a literal, a sign, a parenthesis.
[[nodiscard]] bool begins_expression(const Token& token);
// Keywords that are names of metrics where an expression begins, and identifiers.
[[nodiscard]] bool is_metric_name(const Token& token);
// Those that are names of labels in by (...), on (...) and the like, and identifiers.
[[nodiscard]] bool is_label_name(const Token& token);

}  // namespace halite::query::promql
