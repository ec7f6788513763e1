// What stands behind a selector: ranges, subqueries, offset and @; and durations that are
// expressions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "query/promql/keywords.h"
#include "query/promql/number.h"
#include "query/promql/parser.h"

namespace halite::query::promql {
namespace {

constexpr std::string_view kDurations = "number, duration, step(), or range()";

DurationOp duration_op(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return DurationOp::kAdd;
    case BinaryOp::kSubtract:
      return DurationOp::kSubtract;
    case BinaryOp::kMultiply:
      return DurationOp::kMultiply;
    case BinaryOp::kDivide:
      return DurationOp::kDivide;
    case BinaryOp::kModulo:
      return DurationOp::kModulo;
    default:
      return DurationOp::kPower;
  }
}

bool is_literal(TokenKind kind) {
  return kind == TokenKind::kNumber || kind == TokenKind::kDuration;
}

bool is_duration_function(TokenKind kind) {
  return kind >= TokenKind::kStep && kind <= TokenKind::kMinOf;
}

// False for NaN.
bool is_in_range(double seconds) { return std::abs(seconds) <= kDurationSecondsMax; }

// Anything above zero is at least a millisecond.
Duration range_of(DurationExprPtr expr) {
  Duration range;
  if (expr->op == DurationOp::kNumber) {
    range.ms = std::max<std::int64_t>(1, duration_ms(expr->seconds));
  } else {
    range.expr = std::move(expr);
  }
  return range;
}

bool is_set(const Duration& offset) { return offset.ms != 0 || offset.expr != nullptr; }

}  // namespace

Result<double> Parser::number(const Token& token) const {
  if (token.kind == TokenKind::kNumber) {
    const auto value = parse_number(token.text);
    if (value) return *value;
    return fail_at(token.at.begin, "error parsing number: " + value.error().message);
  }
  const auto ms = parse_duration(token.text);
  if (!ms) return fail_at(token.at.begin, ms.error().message);
  return static_cast<double>(*ms / 1000) + static_cast<double>(*ms % 1000) / 1000;
}

Result<ParsedExpr> Parser::brackets(ParsedExpr of) {
  using enum TokenKind;
  const Token open = take();
  Duration range;
  {
    const InContext context(*this, {"subquery or range selector", kDurations});
    TRY(range, positive_duration());
  }
  TRY(TokenKind next, peek());
  if (next == kRightBracket) return this->range(std::move(of), std::move(range), open, take());
  if (next != kColon) return unexpected({"subquery or range", "\":\" or \"]\""});
  take();
  Subquery subquery;
  TRY(next, peek());
  if (next != kRightBracket) {
    const InContext context(*this,
                            {"subquery selector", "number, duration, step(), range(), or \"]\""});
    TRY(subquery.step, positive_duration());
    TRY(next, peek());
  }
  if (next != kRightBracket) return unexpected({"subquery selector", "\"]\""});
  const Position at = {of.expr->at.begin, take().at.end};
  subquery.expr = std::move(of.expr);
  subquery.range = std::move(range);
  return make(at, ValueType::kMatrix, std::move(subquery), of.depth + 1);
}

Result<ParsedExpr> Parser::range(ParsedExpr of, Duration range, const Token& open,
                                 const Token& close) {
  auto* const selector = std::get_if<VectorSelector>(&of.expr->node);
  if (selector == nullptr) {
    return fail_at(open.at.begin, "ranges only allowed for vector selectors");
  }
  if (selector->time.offset.ms != 0) {
    return fail_at(open.at.begin, "no offset modifiers allowed before range");
  }
  if (selector->time.at == AtKind::kTime) {
    return fail_at(open.at.begin, "no @ modifiers allowed before range");
  }
  const Position at = {of.expr->at.begin, close.at.end};
  return make(
      at, ValueType::kMatrix,
      MatrixSelector{
          .selector = std::move(*selector), .selector_at = of.expr->at, .range = std::move(range)},
      of.depth);
}

// Where offset and @ of an expression go.
Result<TimeModifiers*> Parser::modified(Expr& expr, std::string_view refusal) const {
  if (auto* const selector = std::get_if<VectorSelector>(&expr.node)) return &selector->time;
  if (auto* const matrix = std::get_if<MatrixSelector>(&expr.node)) return &matrix->selector.time;
  if (auto* const subquery = std::get_if<Subquery>(&expr.node)) return &subquery->time;
  return fail_at(expr.at.begin,
                 fmt::format("{} must be preceded by an instant vector selector or range vector "
                             "selector or a subquery",
                             refusal));
}

Result<ParsedExpr> Parser::offset(ParsedExpr of) {
  take();
  const InContext context(*this, {"offset", kDurations});
  TRY(ParsedDuration parsed, offset_duration());
  TRY(TimeModifiers* const time, modified(*of.expr, "offset modifier"));
  if (is_set(time->offset)) {
    return fail_at(of.expr->at.begin, "offset may not be set multiple times");
  }
  if (parsed.expr->op == DurationOp::kNumber) {
    time->offset.ms = duration_ms(parsed.expr->seconds);
  } else {
    time->offset.expr = std::move(parsed.expr);
  }
  of.expr->at.end = end_;
  return of;
}

Result<ParsedExpr> Parser::at_modifier(ParsedExpr of) {
  take();
  const InContext context(*this, {"@", "timestamp"});
  TimeModifiers parsed;
  TRY_VOID(at_time(parsed, of.expr->at.begin));
  TRY(TimeModifiers* const time, modified(*of.expr, "@ modifier"));
  if (time->at != AtKind::kNone) {
    return fail_at(of.expr->at.begin, "@ <timestamp> may not be set multiple times");
  }
  time->at = parsed.at;
  time->at_ms = parsed.at_ms;
  of.expr->at.end = end_;
  return of;
}

// anchored or smoothed. Prometheus' position of the expression does not contain the word.
Result<ParsedExpr> Parser::extended(ParsedExpr of) {
  const Extension extension =
      take().kind == TokenKind::kAnchored ? Extension::kAnchored : Extension::kSmoothed;
  const auto refuse = [&](std::string_view why) {
    return fail_at(of.expr->at.begin,
                   fmt::format("{} modifier {}", extension_name(extension), why));
  };
  if (!options_.experimental) return refuse("is experimental and not enabled");
  auto* selector = std::get_if<VectorSelector>(&of.expr->node);
  if (auto* const matrix = std::get_if<MatrixSelector>(&of.expr->node)) {
    selector = &matrix->selector;
  }
  if (selector == nullptr) {
    return refuse(std::holds_alternative<Subquery>(of.expr->node)
                      ? "is not supported for subqueries"
                      : "not implemented");
  }
  if (selector->extension != Extension::kNone && selector->extension != extension) {
    return fail_at(of.expr->at.begin, "anchored and smoothed modifiers cannot be used together");
  }
  selector->extension = extension;
  return of;
}

// A number with a sign, start() or end(). `begin` is where the expression before the @ begins.
Result<void> Parser::at_time(TimeModifiers& time, std::size_t begin) {
  using enum TokenKind;
  TRY(TokenKind next, peek());
  if (next == kStart || next == kEndOfQuery) {
    take();
    TRY_VOID(expect(kLeftParenthesis));
    TRY_VOID(expect(kRightParenthesis));
    time.at = next == kStart ? AtKind::kStart : AtKind::kEnd;
    return {};
  }
  bool negates = false;
  if (is_sign(token_)) {
    negates = take().op == BinaryOp::kSubtract;
    TRY(next, peek());
  }
  if (!is_literal(next)) return unexpected();
  TRY(double seconds, number(take()));
  if (negates) seconds = -seconds;
  constexpr double kInt64End = 9223372036854775808.0;
  const double ms = std::round(seconds * 1000);
  if (std::isnan(seconds) || std::abs(seconds) >= kInt64End) {
    const std::string shown = std::isnan(seconds)   ? "NaN"
                              : std::isinf(seconds) ? (seconds > 0 ? "+Inf" : "-Inf")
                                                    : fmt::format("{:f}", seconds);
    return fail_at(begin, "timestamp out of bounds for @ modifier: " + shown);
  }
  time.at = AtKind::kTime;
  // Points are far from these times; offsets and ranges must not overflow.
  constexpr double kTimeMax = 1ull << 60;
  time.at_ms = static_cast<TimestampMs>(std::clamp(ms, -kTimeMax, kTimeMax));
  return {};
}

Result<Duration> Parser::positive_duration() {
  TRY(ParsedDuration parsed, duration_binary(0));
  if (parsed.expr->op == DurationOp::kNumber && !(parsed.expr->seconds > 0)) {
    return fail_at(parsed.expr->at.begin, "duration must be greater than 0");
  }
  return range_of(std::move(parsed.expr));
}

// Operators behind a literal or a function belong to the expression around: m offset 1m + 2. Those
// behind parentheses belong to the offset, unless a sign is before them: m offset (1m) + 2m.
Result<ParsedDuration> Parser::offset_duration() {
  using enum TokenKind;
  TRY(const TokenKind first, peek());
  if (is_literal(first)) return duration_literal(true);
  if (is_duration_function(first)) return duration_call();
  if (!is_sign(token_)) return duration_binary(0);
  const Token sign = take();
  TRY(const TokenKind next, peek());
  if (is_literal(next)) {
    TRY(ParsedDuration literal, duration_literal(false));
    return with_sign(sign, std::move(literal), false);
  }
  if (is_duration_function(next)) {
    TRY(ParsedDuration call, duration_call());
    return with_sign(sign, std::move(call), true);
  }
  if (next == kLeftParenthesis) {
    TRY(ParsedDuration inner, duration_parentheses());
    return with_sign(sign, std::move(inner), false);
  }
  TRY(ParsedDuration of, duration_binary(kPowerPrecedence));
  TRY(ParsedDuration left, with_sign(sign, std::move(of), false));
  return duration_binary_from(std::move(left), 0);
}

Result<ParsedDuration> Parser::duration_binary(int precedence_min) {
  const Deeper deeper(depth_);
  TRY_VOID(check_depth(depth_));
  TRY(ParsedDuration left, duration_unary());
  return duration_binary_from(std::move(left), precedence_min);
}

Result<ParsedDuration> Parser::duration_binary_from(ParsedDuration left, int precedence_min) {
  while (true) {
    TRY_VOID(peek());
    const bool is_operator = token_.kind == TokenKind::kBinary && is_duration_operator(token_.op);
    if (!is_operator || precedence(token_.op) < precedence_min) return left;
    const Token op = take();
    const int level = precedence(op.op);
    TRY(ParsedDuration right, duration_binary(level == kPowerPrecedence ? level : level + 1));
    const bool is_zero = right.expr->op == DurationOp::kNumber && right.expr->seconds == 0;
    if (is_zero && op.op == BinaryOp::kDivide) return fail_at(op.at.begin, "division by zero");
    if (is_zero && op.op == BinaryOp::kModulo) return fail_at(op.at.begin, "modulo by zero");
    const Position at = {left.expr->at.begin, right.expr->at.end};
    TRY(left, make_duration(duration_op(op.op), at, std::move(left), std::move(right)));
  }
}

// A sign binds like *.
Result<ParsedDuration> Parser::duration_unary() {
  TRY_VOID(peek());
  if (!is_sign(token_)) return duration_primary();
  const Token sign = take();
  TRY(ParsedDuration of, duration_binary(kPowerPrecedence));
  return with_sign(sign, std::move(of), false);
}

Result<ParsedDuration> Parser::duration_primary() {
  TRY(const TokenKind kind, peek());
  if (is_literal(kind)) return duration_literal(true);
  if (is_duration_function(kind)) return duration_call();
  if (kind == TokenKind::kLeftParenthesis) return duration_parentheses();
  return unexpected();
}

Result<ParsedDuration> Parser::duration_literal(bool checks_range) {
  const Token literal = take();
  TRY(const double seconds, number(literal));
  if (checks_range && !is_in_range(seconds)) {
    return fail_at(literal.at.begin, "duration out of range");
  }
  auto expr = std::make_unique<DurationExpr>();
  expr->at = literal.at;
  expr->seconds = seconds;
  expr->written_as_duration = literal.kind == TokenKind::kDuration;
  return ParsedDuration{std::move(expr)};
}

// step(), range(), min_of(a, b) or max_of(a, b).
Result<ParsedDuration> Parser::duration_call() {
  using enum TokenKind;
  const Token name = take();
  TRY_VOID(expect(kLeftParenthesis));
  if (name.kind == kStep || name.kind == kRange) {
    TRY_VOID(expect(kRightParenthesis));
    return make_duration(name.kind == kStep ? DurationOp::kStep : DurationOp::kRange,
                         {name.at.begin, end_}, {}, {});
  }
  TRY(ParsedDuration left, duration_binary(0));
  TRY_VOID(expect(kComma));
  TRY(ParsedDuration right, duration_binary(0));
  TRY_VOID(expect(kRightParenthesis));
  // Prometheus' position is that of the operands.
  const Position at = {left.expr->at.begin, right.expr->at.end};
  return make_duration(name.kind == kMinOf ? DurationOp::kMin : DurationOp::kMax, at,
                       std::move(left), std::move(right));
}

// Around a literal they are dropped, and around parentheses, too.
Result<ParsedDuration> Parser::duration_parentheses() {
  take();
  TRY(ParsedDuration inner, duration_binary(0));
  TRY_VOID(expect(TokenKind::kRightParenthesis));
  const DurationOp op = inner.expr->op;
  if (op == DurationOp::kNumber || op == DurationOp::kParentheses) return inner;
  const Position at = inner.expr->at;
  return make_duration(DurationOp::kParentheses, at, std::move(inner), {});
}

// `keeps_plus`: Prometheus keeps that of offset +step() in its tree, and no other.
Result<ParsedDuration> Parser::with_sign(const Token& sign, ParsedDuration of, bool keeps_plus) {
  const bool negates = sign.op == BinaryOp::kSubtract;
  if (of.expr->op == DurationOp::kNumber) {
    if (negates) of.expr->seconds = -of.expr->seconds;
    if (!is_in_range(of.expr->seconds)) return fail_at(sign.at.begin, "duration out of range");
    of.expr->at.begin = sign.at.begin;
    return of;
  }
  if (!negates && !keeps_plus) return of;
  const Position at = {sign.at.begin, of.expr->at.end};
  return make_duration(negates ? DurationOp::kNegate : DurationOp::kPlus, at, std::move(of), {});
}

Result<ParsedDuration> Parser::make_duration(DurationOp op, Position at, ParsedDuration left,
                                             ParsedDuration right) const {
  const std::size_t below = std::max(left.expr ? left.depth : 0, right.expr ? right.depth : 0);
  TRY_VOID(check_depth(below + 1));
  auto expr = std::make_unique<DurationExpr>();
  expr->at = at;
  expr->op = op;
  expr->left = std::move(left.expr);
  expr->right = std::move(right.expr);
  return ParsedDuration{std::move(expr), below + 1};
}

}  // namespace halite::query::promql
