// The parser of PromQL: precedence climbing over tokens that are read one ahead, and only where the
// grammar needs that one. So the first error is the one that Prometheus finds first.
//
// Over 140 lines because the rules of the grammar call each other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "query/promql/lexer.h"
#include "query/promql/parse.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// A part of the tree, and how many levels it has. Binary operators are none.
struct ParsedExpr {
  ExprPtr expr;
  std::size_t depth = 1;
};
struct ParsedDuration {
  DurationExprPtr expr;
  std::size_t depth = 1;
};

class Parser {
 public:
  // `text` outlives the parser.
  Parser(std::string_view text, const ParseOptions& options)
      : text_(text), options_(options), lexer_(text) {}

  // The whole text, types not yet checked.
  [[nodiscard]] Result<ExprPtr> parse_expression();
  [[nodiscard]] Result<VectorSelector> parse_selector();

 private:
  // What the messages of wrong tokens say: "unexpected X in WHERE, expected WHAT".
  struct Context {
    std::string_view where;
    std::string_view expected;
  };
  // Sets the context for its lifetime.
  class InContext {
   public:
    InContext(Parser& parser, Context context)
        : parser_(parser), before_(std::exchange(parser.context_, context)) {}
    ~InContext() { parser_.context_ = before_; }
    InContext(const InContext&) = delete;

   private:
    Parser& parser_;
    Context before_;
  };
  // Counts a level for its lifetime.
  class Deeper {
   public:
    explicit Deeper(std::size_t& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;

   private:
    std::size_t& depth_;
  };

  // The kind of the next token, which is then `token_`.
  Result<TokenKind> peek();
  // Takes the token that was peeked.
  Token take();
  // Takes the next token if it is of this kind, else fails.
  Result<Token> expect(TokenKind kind);
  [[nodiscard]] std::unexpected<Error> unexpected(Context context) const;
  [[nodiscard]] std::unexpected<Error> unexpected() const { return unexpected(context_); }
  [[nodiscard]] std::unexpected<Error> fail_at(std::size_t at, std::string_view message) const;
  [[nodiscard]] Result<void> check_depth(std::size_t depth) const;
  template <class Node>
  Result<ParsedExpr> make(Position at, ValueType type, Node node, std::size_t depth) const;

  // parser.cc
  Result<ParsedExpr> binary(int precedence_min);
  Result<ParsedExpr> powers(ParsedExpr first);
  Result<ParsedExpr> make_binary(ParsedExpr left, Binary node, ParsedExpr right);
  Result<ParsedExpr> unary();
  Result<ParsedExpr> postfix();
  Result<ParsedExpr> primary();
  Result<ParsedExpr> parentheses();
  Result<ParsedExpr> named(Token name);
  Result<ParsedExpr> call(const Token& name);
  Result<std::vector<ParsedExpr>> arguments();
  Result<ParsedExpr> aggregation(const Token& op);
  Result<ParsedExpr> make_aggregation(const Token& op, Aggregation aggregation,
                                      std::vector<ParsedExpr> arguments, std::size_t end);
  Result<void> aggregate_modifier(Aggregation& aggregation);

  // parser_matching.cc
  Result<void> binary_modifiers(Binary& binary);
  Result<void> fill_modifiers(VectorMatching& matching);
  Result<double> fill_value();
  Result<std::vector<std::string>> grouping();
  Result<std::string> grouping_label();

  // parser_selector.cc
  Result<ParsedExpr> selector(const Token& name);
  Result<Position> braces(VectorSelector& selector);
  Result<LabelMatcher> matcher();
  Result<LabelMatcher> matcher_value(std::string name, std::size_t at);
  Result<LabelMatcher> make_matcher(std::string name, MatchKind kind, std::string value,
                                    std::size_t at) const;

  // parser_duration.cc
  Result<double> number(const Token& token) const;  // of kNumber and kDuration, in seconds
  Result<ParsedExpr> brackets(ParsedExpr of);
  Result<ParsedExpr> range(ParsedExpr of, Duration range, const Token& open, const Token& close);
  Result<ParsedExpr> offset(ParsedExpr of);
  Result<ParsedExpr> at_modifier(ParsedExpr of);
  Result<void> at_time(TimeModifiers& time, std::size_t begin);
  Result<ParsedExpr> extended(ParsedExpr of);
  Result<TimeModifiers*> modified(Expr& expr, std::string_view refusal) const;
  Result<Duration> positive_duration();
  Result<ParsedDuration> offset_duration();
  Result<ParsedDuration> duration_binary(int precedence_min);
  Result<ParsedDuration> duration_binary_from(ParsedDuration left, int precedence_min);
  Result<ParsedDuration> duration_unary();
  Result<ParsedDuration> duration_primary();
  Result<ParsedDuration> duration_literal(bool checks_range);
  Result<ParsedDuration> duration_call();
  Result<ParsedDuration> duration_parentheses();
  Result<ParsedDuration> with_sign(const Token& sign, ParsedDuration of, bool keeps_plus);
  Result<ParsedDuration> make_duration(DurationOp op, Position at, ParsedDuration left,
                                       ParsedDuration right) const;

  std::string_view text_;
  const ParseOptions& options_;
  Lexer lexer_;
  Token token_;
  bool peeked_ = false;
  std::size_t end_ = 0;  // of the last token that was taken
  std::size_t depth_ = 0;
  Context context_;
};

// How strongly an operator binds; kPowerPrecedence binds its right side first.
[[nodiscard]] int precedence(BinaryOp op);
inline constexpr int kPowerPrecedence = 5;

template <class Node>
Result<ParsedExpr> Parser::make(Position at, ValueType type, Node node, std::size_t depth) const {
  TRY_VOID(check_depth(depth));
  auto expr = std::make_unique<Expr>();
  expr->at = at;
  expr->type = type;
  expr->node = std::move(node);
  return ParsedExpr{std::move(expr), depth};
}

}  // namespace halite::query::promql
