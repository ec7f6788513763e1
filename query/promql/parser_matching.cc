// What stands between a binary operator and its right side, and lists of labels.
#include "common/bytes/utf8.h"
#include "query/promql/go_text.h"
#include "query/promql/keywords.h"
#include "query/promql/parser.h"

namespace halite::query::promql {

// bool, on or ignoring, group_left or group_right, fill: in this order.
Result<void> Parser::binary_modifiers(Binary& binary) {
  using enum TokenKind;
  VectorMatching& matching = binary.matching;
  TRY(TokenKind next, peek());
  if (next == kBool) {
    take();
    binary.returns_bool = true;
    TRY(next, peek());
  }
  if (next == kOn || next == kIgnoring) {
    matching.on = take().kind == kOn;
    TRY(matching.labels, grouping());
    TRY(next, peek());
    if (next == kGroupLeft || next == kGroupRight) {
      take();
      matching.cardinality =
          next == kGroupLeft ? MatchCardinality::kManyToOne : MatchCardinality::kOneToMany;
      TRY(next, peek());
      if (next == kLeftParenthesis || !begins_expression(token_)) {
        TRY(matching.include, grouping());
      }
    }
  }
  return fill_modifiers(matching);
}

Result<void> Parser::fill_modifiers(VectorMatching& matching) {
  using enum TokenKind;
  TRY(const TokenKind first, peek());
  if (first != kFill && first != kFillLeft && first != kFillRight) return {};
  take();
  TRY(const double value, fill_value());
  if (first != kFillRight) matching.fill_left = value;
  if (first != kFillLeft) matching.fill_right = value;
  if (first == kFill) return {};
  TRY(const TokenKind second, peek());
  if (second != (first == kFillLeft ? kFillRight : kFillLeft)) return {};
  take();
  TRY(const double other, fill_value());
  (first == kFillLeft ? matching.fill_right : matching.fill_left) = other;
  return {};
}

Result<double> Parser::fill_value() {
  TRY_VOID(expect(TokenKind::kLeftParenthesis));
  TRY(TokenKind next, peek());
  bool negates = false;
  if (is_sign(token_)) {
    negates = take().op == BinaryOp::kSubtract;
    TRY(next, peek());
  }
  if (next != TokenKind::kNumber && next != TokenKind::kDuration) return unexpected();
  TRY(const double value, number(take()));
  TRY_VOID(expect(TokenKind::kRightParenthesis));
  return negates ? -value : value;
}

// (label, "label", ...); a comma may end it.
Result<std::vector<std::string>> Parser::grouping() {
  static constexpr std::string_view kWhere = "grouping opts";
  std::vector<std::string> labels;
  TRY(TokenKind next, peek());
  if (next != TokenKind::kLeftParenthesis) return unexpected({kWhere, "\"(\""});
  take();
  TRY(next, peek());
  while (next != TokenKind::kRightParenthesis) {
    TRY(std::string label, grouping_label());
    labels.push_back(std::move(label));
    TRY(next, peek());
    if (next == TokenKind::kRightParenthesis) break;
    if (next != TokenKind::kComma) return unexpected({kWhere, "\",\" or \")\""});
    take();
    TRY(next, peek());
  }
  take();
  return labels;
}

Result<std::string> Parser::grouping_label() {
  if (is_label_name(token_)) return std::string(take().text);
  if (token_.kind != TokenKind::kString) return unexpected({"grouping opts", "label"});
  Token label = take();
  if (label.value.empty() || !is_utf8(label.value)) {
    return fail_at(label.at.begin, "invalid label name for grouping: " + go_quoted(label.value));
  }
  return std::move(label.value);
}

}  // namespace halite::query::promql
