#include "query/promql/print.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/promql/go_text.h"
#include "query/promql/keywords.h"
#include "query/promql/number.h"
#include "query/promql/number_text.h"
#include "query/promql/operator_walk.h"
#include "query/promql/printer.h"

namespace halite::query::promql {
namespace {

// [a-zA-Z_][a-zA-Z0-9_]*: others have quotes.
std::string label_text(std::string_view name) {
  return is_plain_label(name) ? std::string(name) : go_quoted(name);
}

std::string seconds_text(double seconds, bool as_duration) {
  if (!as_duration) return fixed_text(seconds);
  return duration_text(static_cast<std::int64_t>(std::round(seconds * 1000)));
}

// Whether the parser reads it behind "offset" without parentheses, up to its end.
bool is_one_offset(const DurationExpr& expr) {
  switch (expr.op) {
    case DurationOp::kNumber:
    case DurationOp::kStep:
    case DurationOp::kRange:
    case DurationOp::kMin:
    case DurationOp::kMax:
    case DurationOp::kParentheses:
      return true;
    case DurationOp::kNegate:
    case DurationOp::kPlus:
      return expr.left->op != DurationOp::kNegate && is_one_offset(*expr.left);
    default:
      return false;
  }
}

}  // namespace

bool is_plain_label(std::string_view name) { return is_plain_metric(name) && !name.contains(':'); }

bool is_plain_metric(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_word_character(c) || c == ':'; });
}

std::string_view duration_symbol(DurationOp op) {
  static constexpr auto kSymbols = std::to_array<std::string_view>(
      {"", "step", "range", "+", "-", "*", "/", "%", "^", "-", "+", "min_of", "max_of", ""});
  static_assert(kSymbols.size() == static_cast<std::size_t>(DurationOp::kParentheses) + 1);
  return kSymbols[static_cast<std::size_t>(op)];
}

bool has_infinite_base(const Binary& node) {
  const auto* const base = std::get_if<NumberLiteral>(&node.left->node);
  return node.op == BinaryOp::kPower && base != nullptr && std::isinf(base->value);
}

bool matches_vectors(const Binary& node) {
  return node.left->type == ValueType::kVector && node.right->type == ValueType::kVector;
}

void Printer::expr(const Expr& expr) {
  OperatorWalk<const Expr> walk(expr);
  std::vector<bool> before;        // before_arithmetic_ of each open operator
  const Expr* infinite = nullptr;  // the base of ^
  while (!is_full()) {
    const auto step = walk.next();
    if (!step) return;
    const auto* const binary = std::get_if<Binary>(&step->expr->node);
    switch (step->visit) {
      case Visit::kBefore:
        is_deep_ = walk.depth(step->visit) > bytes_max_;
        before.push_back(before_arithmetic_);
        before_arithmetic_ = before_arithmetic_ || is_duration_operator(binary->op);
        if (has_infinite_base(*binary)) infinite = binary->left.get();
        break;
      case Visit::kBetween:
        before_arithmetic_ = before.back();
        text_ += ' ';
        binary_head(*binary);
        text_ += ' ';
        break;
      case Visit::kAfter:
        before.pop_back();
        break;
      case Visit::kOperand:
        if (step->expr == infinite) {
          text_ += "Inf";
        } else {
          std::visit([this](const auto& node) { write(node); }, step->expr->node);
        }
        break;
    }
  }
}

void Printer::write(const NumberLiteral& node) {
  text_ += seconds_text(node.value, node.is_duration);
}

void Printer::write(const StringLiteral& node) { text_ += go_quoted(node.value); }

void Printer::write(const VectorSelector& node) {
  selector(node);
  at(node.time);
  extension(node.extension);
  offset(node.time.offset);
}

void Printer::write(const MatrixSelector& node) {
  selector(node.selector);
  text_ += '[';
  duration(node.range);
  text_ += ']';
  extension(node.selector.extension);
  at(node.selector.time);
  offset(node.selector.time.offset);
}

void Printer::write(const Subquery& node) {
  expr(*node.expr);
  subquery_suffix(node);
}

void Printer::write(const Call& node) {
  text_ += node.function->name;
  text_ += '(';
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    if (i > 0) text_ += ", ";
    enclosed(*node.arguments[i]);
  }
  text_ += ')';
}

void Printer::write(const Aggregation& node) {
  aggregation_head(node);
  text_ += '(';
  if (node.parameter != nullptr) {
    enclosed(*node.parameter);
    text_ += ", ";
  }
  enclosed(*node.expr);
  text_ += ')';
}

void Printer::write(const Unary& node) {
  text_ += node.negates ? '-' : '+';
  expr(*node.expr);
}

void Printer::write(const Parentheses& node) {
  text_ += '(';
  enclosed(*node.expr);
  text_ += ')';
}

void Printer::enclosed(const Expr& expr) {
  const bool before = std::exchange(before_arithmetic_, false);
  this->expr(expr);
  before_arithmetic_ = before;
}

void Printer::aggregation_head(const Aggregation& node) {
  text_ += aggregate_name(node.op);
  if (node.grouping.empty() && !node.without) return;
  text_ += node.without ? " without " : " by ";
  labels(node.grouping);
  text_ += ' ';
}

void Printer::binary_head(const Binary& node) {
  text_ += binary_symbol(node.op);
  if (node.returns_bool) text_ += " bool";
  if (!matches_vectors(node)) return;
  const VectorMatching& matching = node.matching;
  const bool to_many = matching.cardinality == MatchCardinality::kManyToOne ||
                       matching.cardinality == MatchCardinality::kOneToMany;
  if (matching.on || to_many || !matching.labels.empty()) {
    text_ += matching.on ? " on " : " ignoring ";
    labels(matching.labels);
  }
  if (to_many) {
    text_ +=
        matching.cardinality == MatchCardinality::kManyToOne ? " group_left " : " group_right ";
    labels(matching.include);
  }
  if (matching.fill_left && matching.fill_left == matching.fill_right) {
    text_ += fmt::format(" fill ({})", fixed_text(*matching.fill_left));
    return;
  }
  if (matching.fill_left) {
    text_ += fmt::format(" fill_left ({})", fixed_text(*matching.fill_left));
  }
  if (matching.fill_right) {
    text_ += fmt::format(" fill_right ({})", fixed_text(*matching.fill_right));
  }
}

void Printer::subquery_suffix(const Subquery& node) {
  text_ += '[';
  duration(node.range);
  text_ += ':';
  if (node.step.ms != 0 || node.step.expr != nullptr) duration(node.step);
  text_ += ']';
  at(node.time);
  offset(node.time.offset);
}

void Printer::selector(const VectorSelector& node) {
  std::vector<std::string> matchers;
  for (const LabelMatcher& matcher : node.matchers) {
    const bool is_name = matcher.name() == kMetricLabel && matcher.kind() == MatchKind::kEqual &&
                         matcher.value() == node.name && !node.name.empty();
    if (is_name) continue;
    matchers.push_back(label_text(matcher.name()) + std::string(match_symbol(matcher.kind())) +
                       go_quoted(matcher.value()));
  }
  text_ += node.name;
  // Only info() takes a selector without name and matchers.
  if (matchers.empty() && !node.name.empty()) return;
  std::ranges::sort(matchers);
  text_ += fmt::format("{{{}}}", fmt::join(matchers, ","));
}

void Printer::labels(const std::vector<std::string>& labels) {
  text_ += '(';
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) text_ += ", ";
    // The parser reads inf and nan as numbers here.
    const Keyword* const keyword = find_keyword(labels[i]);
    const bool is_number = keyword != nullptr && keyword->kind == TokenKind::kNumber;
    text_ += is_number ? go_quoted(labels[i]) : label_text(labels[i]);
  }
  text_ += ')';
}

void Printer::extension(Extension extension) {
  if (extension == Extension::kNone) return;
  text_ += ' ';
  text_ += extension_name(extension);
}

void Printer::at(const TimeModifiers& time) {
  switch (time.at) {
    case AtKind::kNone:
      break;
    case AtKind::kTime:
      text_ += fmt::format(" @ {:.3f}", static_cast<double>(time.at_ms) / 1000);
      break;
    case AtKind::kStart:
      text_ += " @ start()";
      break;
    case AtKind::kEnd:
      text_ += " @ end()";
      break;
  }
}

void Printer::offset(const Duration& offset) {
  const DurationExpr* const expr = offset.expr.get();
  if (expr == nullptr && offset.ms == 0) return;
  const bool encloses = expr != nullptr && !is_one_offset(*expr);
  const bool has_parentheses =
      encloses || (expr != nullptr && expr->op == DurationOp::kParentheses);
  text_ += " offset ";
  // Behind a sign, parentheses end the offset.
  if (has_parentheses && before_arithmetic_) text_ += '+';
  if (encloses) text_ += '(';
  duration(offset);
  if (encloses) text_ += ')';
}

void Printer::duration(const Duration& duration) {
  if (duration.expr != nullptr) {
    duration_expr(*duration.expr);
  } else {
    text_ += duration_text(duration.ms);
  }
}

void Printer::duration_expr(const DurationExpr& expr) {
  if (is_full()) return;
  switch (expr.op) {
    case DurationOp::kNumber:
      text_ += seconds_text(expr.seconds, expr.written_as_duration);
      return;
    case DurationOp::kStep:
    case DurationOp::kRange:
      text_ += duration_symbol(expr.op);
      text_ += "()";
      return;
    case DurationOp::kMin:
    case DurationOp::kMax:
      text_ += duration_symbol(expr.op);
      text_ += '(';
      duration_expr(*expr.left);
      text_ += ", ";
      duration_expr(*expr.right);
      text_ += ')';
      return;
    case DurationOp::kParentheses:
      text_ += '(';
      duration_expr(*expr.left);
      text_ += ')';
      return;
    case DurationOp::kNegate:
      text_ += '-';
      duration_expr(*expr.left);
      return;
    case DurationOp::kPlus:
      duration_expr(*expr.left);
      return;
    default:
      break;
  }
  // The parser drops the parentheses of (-1m) ^ 2.
  const bool negative_base = expr.op == DurationOp::kPower &&
                             expr.left->op == DurationOp::kNumber && expr.left->seconds < 0;
  if (negative_base) text_ += '(';
  duration_expr(*expr.left);
  if (negative_base) text_ += ')';
  text_ += fmt::format(" {} ", duration_symbol(expr.op));
  duration_expr(*expr.right);
}

std::string print(const Expr& expr) {
  Printer printer;
  printer.expr(expr);
  return printer.take();
}

}  // namespace halite::query::promql
