#include "query/promql/parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "query/promql/check.h"
#include "query/promql/go_text.h"
#include "query/promql/keywords.h"

namespace halite::query::promql {
namespace {

bool takes_parameter(AggregateOp op) {
  switch (op) {
    case AggregateOp::kTopk:
    case AggregateOp::kBottomk:
    case AggregateOp::kCountValues:
    case AggregateOp::kQuantile:
    case AggregateOp::kLimitk:
    case AggregateOp::kLimitRatio:
      return true;
    default:
      return false;
  }
}

bool is_experimental(AggregateOp op) {
  return op == AggregateOp::kLimitk || op == AggregateOp::kLimitRatio;
}

}  // namespace

int precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr:
      return 0;
    case BinaryOp::kAnd:
    case BinaryOp::kUnless:
      return 1;
    case BinaryOp::kAdd:
    case BinaryOp::kSubtract:
      return 3;
    case BinaryOp::kMultiply:
    case BinaryOp::kDivide:
    case BinaryOp::kModulo:
    case BinaryOp::kAtan2:
      return 4;
    case BinaryOp::kPower:
      return kPowerPrecedence;
    default:
      return 2;  // comparisons and trims
  }
}

Result<TokenKind> Parser::peek() {
  if (!peeked_) {
    TRY(token_, lexer_.next());
    peeked_ = true;
  }
  return token_.kind;
}

Token Parser::take() {
  peeked_ = false;
  end_ = token_.at.end;
  return std::move(token_);
}

Result<Token> Parser::expect(TokenKind kind) {
  TRY(const TokenKind next, peek());
  if (next != kind) return unexpected();
  return take();
}

std::unexpected<Error> Parser::unexpected(Context context) const {
  std::string message = "unexpected " + describe(token_);
  if (!context.where.empty()) message += fmt::format(" in {}", context.where);
  if (!context.expected.empty()) message += fmt::format(", expected {}", context.expected);
  return fail_at(token_.at.begin, message);
}

std::unexpected<Error> Parser::fail_at(std::size_t at, std::string_view message) const {
  return parse_error(text_, at, message);
}

Result<void> Parser::check_depth(std::size_t depth) const {
  if (depth <= options_.depth_max) return {};
  return fail(Errc::kTooLarge, fmt::format("the expression is nested more than {} deep; make it "
                                           "simpler, or raise query.promql_depth_max",
                                           options_.depth_max));
}

Result<ExprPtr> Parser::parse_expression() {
  TRY(const TokenKind first, peek());
  if (first == TokenKind::kEnd) return fail_at(0, "no expression found in input");
  TRY(ParsedExpr all, binary(0));
  TRY_VOID(expect(TokenKind::kEnd));
  return std::move(all.expr);
}

Result<ParsedExpr> Parser::binary(int precedence_min) {
  const Deeper deeper(depth_);
  TRY_VOID(check_depth(depth_));
  TRY(ParsedExpr left, unary());
  while (true) {
    TRY(const TokenKind kind, peek());
    if (kind != TokenKind::kBinary || precedence(token_.op) < precedence_min) return left;
    if (precedence(token_.op) == kPowerPrecedence) {
      TRY(left, powers(std::move(left)));
      continue;
    }
    Binary node;
    node.op = take().op;
    TRY_VOID(binary_modifiers(node));
    TRY(ParsedExpr right, binary(precedence(node.op) + 1));
    TRY(left, make_binary(std::move(left), std::move(node), std::move(right)));
  }
}

// a ^ b ^ c is a ^ (b ^ c).
Result<ParsedExpr> Parser::powers(ParsedExpr first) {
  std::vector<std::pair<ParsedExpr, Binary>> bases;
  ParsedExpr last = std::move(first);
  while (true) {
    TRY(const TokenKind kind, peek());
    if (kind != TokenKind::kBinary || precedence(token_.op) != kPowerPrecedence) break;
    Binary node;
    node.op = take().op;
    TRY_VOID(binary_modifiers(node));
    bases.emplace_back(std::move(last), std::move(node));
    TRY(last, unary());
  }
  for (; !bases.empty(); bases.pop_back()) {
    auto& [base, node] = bases.back();
    TRY(last, make_binary(std::move(base), std::move(node), std::move(last)));
  }
  return last;
}

Result<ParsedExpr> Parser::make_binary(ParsedExpr left, Binary node, ParsedExpr right) {
  const VectorMatching& matching = node.matching;
  if ((matching.fill_left || matching.fill_right) && !options_.experimental) {
    return fail_at(left.expr->at.begin, "binop fill modifiers are experimental and not enabled");
  }
  const Position at = {left.expr->at.begin, right.expr->at.end};
  const bool is_scalar =
      left.expr->type == ValueType::kScalar && right.expr->type == ValueType::kScalar;
  const std::size_t depth = std::max(left.depth, right.depth);
  node.left = std::move(left.expr);
  node.right = std::move(right.expr);
  return make(at, is_scalar ? ValueType::kScalar : ValueType::kVector, std::move(node), depth);
}

// A sign binds like *.
Result<ParsedExpr> Parser::unary() {
  TRY_VOID(peek());
  if (!is_sign(token_)) return postfix();
  const Token sign = take();
  const bool negates = sign.op == BinaryOp::kSubtract;
  TRY(ParsedExpr of, binary(kPowerPrecedence));
  if (auto* const literal = std::get_if<NumberLiteral>(&of.expr->node)) {
    if (negates) literal->value = -literal->value;
    of.expr->at.begin = sign.at.begin;
    return of;
  }
  const Position at = {sign.at.begin, of.expr->at.end};
  const ValueType type = of.expr->type;
  return make(at, type, Unary{.negates = negates, .expr = std::move(of.expr)}, of.depth + 1);
}

Result<ParsedExpr> Parser::postfix() {
  TRY(ParsedExpr of, primary());
  while (true) {
    TRY(const TokenKind kind, peek());
    switch (kind) {
      case TokenKind::kLeftBracket: {
        TRY(of, brackets(std::move(of)));
        break;
      }
      case TokenKind::kOffset: {
        TRY(of, offset(std::move(of)));
        break;
      }
      case TokenKind::kAt: {
        TRY(of, at_modifier(std::move(of)));
        break;
      }
      case TokenKind::kAnchored:
      case TokenKind::kSmoothed: {
        TRY(of, extended(std::move(of)));
        break;
      }
      default:
        return of;
    }
  }
}

Result<ParsedExpr> Parser::primary() {
  TRY(const TokenKind kind, peek());
  switch (kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration: {
      const Token literal = take();
      TRY(const double value, number(literal));
      return make(literal.at, ValueType::kScalar,
                  NumberLiteral{.value = value, .is_duration = kind == TokenKind::kDuration}, 1);
    }
    case TokenKind::kString: {
      Token literal = take();
      return make(literal.at, ValueType::kString, StringLiteral{std::move(literal.value)}, 1);
    }
    case TokenKind::kLeftParenthesis:
      return parentheses();
    case TokenKind::kLeftBrace:
      return selector(Token());
    default:
      if (!is_metric_name(token_)) return unexpected();
      return named(take());
  }
}

Result<ParsedExpr> Parser::parentheses() {
  const Token open = take();
  TRY(ParsedExpr inner, binary(0));
  TRY(const Token close, expect(TokenKind::kRightParenthesis));
  const ValueType type = inner.expr->type;
  return make({open.at.begin, close.at.end}, type, Parentheses{std::move(inner.expr)},
              inner.depth + 1);
}

// A call, an aggregation or a metric.
Result<ParsedExpr> Parser::named(Token name) {
  using enum TokenKind;
  TRY(const TokenKind next, peek());
  if (name.kind == kAggregate) {
    const bool is_aggregation = next == kLeftParenthesis || next == kBy || next == kWithout;
    return is_aggregation ? aggregation(name) : selector(name);
  }
  const bool may_be_function =
      name.kind == kIdentifier || (name.kind >= kStart && name.kind <= kMinOf);
  return may_be_function && next == kLeftParenthesis ? call(name) : selector(name);
}

Result<ParsedExpr> Parser::call(const Token& name) {
  TRY(std::vector<ParsedExpr> arguments, this->arguments());
  Call call;
  call.function = find_function(name.text);
  if (call.function == nullptr) {
    return fail_at(name.at.begin, "unknown function with name " + go_quoted(name.text));
  }
  if (call.function->experimental && !options_.experimental) {
    return fail_at(name.at.begin, fmt::format("function {} is not enabled", go_quoted(name.text)));
  }
  std::size_t depth = 0;
  for (ParsedExpr& argument : arguments) {
    depth = std::max(depth, argument.depth);
    call.arguments.push_back(std::move(argument.expr));
  }
  const ValueType returns = call.function->returns;
  return make({name.at.begin, end_}, returns, std::move(call), depth + 1);
}

// In parentheses.
Result<std::vector<ParsedExpr>> Parser::arguments() {
  TRY_VOID(expect(TokenKind::kLeftParenthesis));
  std::vector<ParsedExpr> arguments;
  TRY(TokenKind next, peek());
  if (next == TokenKind::kRightParenthesis) {
    take();
    return arguments;
  }
  while (true) {
    TRY(ParsedExpr argument, binary(0));
    arguments.push_back(std::move(argument));
    TRY(next, peek());
    if (next != TokenKind::kComma) {
      TRY_VOID(expect(TokenKind::kRightParenthesis));
      return arguments;
    }
    const Token comma = take();
    TRY_VOID(peek());
    if (!begins_expression(token_)) {
      return fail_at(comma.at.begin, "trailing commas not allowed in function call args");
    }
  }
}

Result<ParsedExpr> Parser::aggregation(const Token& op) {
  const InContext context(*this, {"aggregation", {}});
  Aggregation aggregation;
  if (token_.kind != TokenKind::kLeftParenthesis) {
    TRY_VOID(aggregate_modifier(aggregation));
    TRY(std::vector<ParsedExpr> arguments, this->arguments());
    return make_aggregation(op, std::move(aggregation), std::move(arguments), end_);
  }
  TRY(std::vector<ParsedExpr> arguments, this->arguments());
  TRY(const TokenKind next, peek());
  if (next == TokenKind::kBy || next == TokenKind::kWithout) {
    TRY_VOID(aggregate_modifier(aggregation));
  }
  return make_aggregation(op, std::move(aggregation), std::move(arguments), end_);
}

Result<void> Parser::aggregate_modifier(Aggregation& aggregation) {
  aggregation.without = take().kind == TokenKind::kWithout;
  TRY(aggregation.grouping, grouping());
  return {};
}

Result<ParsedExpr> Parser::make_aggregation(const Token& op, Aggregation aggregation,
                                            std::vector<ParsedExpr> arguments, std::size_t end) {
  aggregation.op = op.aggregate;
  if (arguments.empty()) {
    return fail_at(op.at.begin, "no arguments for aggregate expression provided");
  }
  if (is_experimental(op.aggregate) && !options_.experimental) {
    return fail_at(op.at.begin, fmt::format("{}() is experimental and must be enabled with "
                                            "--enable-feature=promql-experimental-functions",
                                            aggregate_name(op.aggregate)));
  }
  const std::size_t wanted = takes_parameter(op.aggregate) ? 2 : 1;
  if (arguments.size() != wanted) {
    return fail_at(op.at.begin, fmt::format("wrong number of arguments for aggregate expression "
                                            "provided, expected {}, got {}",
                                            wanted, arguments.size()));
  }
  std::size_t depth = arguments.back().depth;
  if (wanted == 2) {
    depth = std::max(depth, arguments.front().depth);
    aggregation.parameter = std::move(arguments.front().expr);
  }
  aggregation.expr = std::move(arguments.back().expr);
  return make({op.at.begin, end}, ValueType::kVector, std::move(aggregation), depth + 1);
}

Result<ExprPtr> parse(std::string_view text, const ParseOptions& options) {
  if (text.size() > options.bytes_max) {
    return fail(Errc::kTooLarge, fmt::format("the expression has {} bytes, more than {} "
                                             "(query.promql_bytes_max)",
                                             text.size(), options.bytes_max));
  }
  TRY(ExprPtr expr, Parser(text, options).parse_expression());
  TRY_VOID(check_types(*expr, text));
  return expr;
}

}  // namespace halite::query::promql
