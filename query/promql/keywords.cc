#include "query/promql/keywords.h"

#include <array>
#include <string>
#include <unordered_map>

#include "common/bytes/ascii.h"

namespace halite::query::promql {
namespace {

std::unordered_map<std::string_view, Keyword> make_keywords() {
  using enum TokenKind;
  std::unordered_map<std::string_view, Keyword> keywords;
  const auto add = [&keywords](const Keyword& keyword) { keywords.emplace(keyword.name, keyword); };
  for (const BinaryOp op : {BinaryOp::kAnd, BinaryOp::kOr, BinaryOp::kUnless, BinaryOp::kAtan2}) {
    add({.name = binary_symbol(op), .kind = kBinary, .op = op});
  }
  for (auto op = AggregateOp::kSum; op <= AggregateOp::kLimitRatio;
       op = static_cast<AggregateOp>(static_cast<int>(op) + 1)) {
    add({.name = aggregate_name(op), .kind = kAggregate, .aggregate = op});
  }
  for (const Keyword& keyword : std::to_array<Keyword>({
           {"offset", kOffset},
           {"smoothed", kSmoothed},
           {"anchored", kAnchored},
           {"by", kBy},
           {"without", kWithout},
           {"on", kOn},
           {"ignoring", kIgnoring},
           {"group_left", kGroupLeft},
           {"group_right", kGroupRight},
           {"fill", kFill},
           {"fill_left", kFillLeft},
           {"fill_right", kFillRight},
           {"bool", kBool},
           {"start", kStart},
           {"end", kEndOfQuery},
           {"step", kStep},
           {"range", kRange},
           {"max_of", kMaxOf},
           {"min_of", kMinOf},
           {"inf", kNumber},
           {"nan", kNumber},
       })) {
    add(keyword);
  }
  return keywords;
}

}  // namespace

const Keyword* find_keyword(std::string_view word) {
  static const std::unordered_map<std::string_view, Keyword> kKeywords = make_keywords();
  const std::string lower = to_lower(word);
  const auto found = kKeywords.find(lower);
  return found == kKeywords.end() ? nullptr : &found->second;
}

bool is_sign(const Token& token) {
  return token.kind == TokenKind::kBinary &&
         (token.op == BinaryOp::kAdd || token.op == BinaryOp::kSubtract);
}

bool is_metric_name(const Token& token) {
  using enum TokenKind;
  switch (token.kind) {
    case kIdentifier:
    case kMetricIdentifier:
    case kAggregate:
    case kBy:
    case kWithout:
    case kFill:
    case kFillLeft:
    case kFillRight:
    case kOffset:
    case kSmoothed:
    case kAnchored:
    case kStart:
    case kEndOfQuery:
    case kStep:
    case kRange:
    case kMaxOf:
    case kMinOf:
      return true;
    case kBinary:
      return is_set_operator(token.op);
    default:
      return false;
  }
}

bool is_label_name(const Token& token) {
  using enum TokenKind;
  if (is_metric_name(token)) return true;
  switch (token.kind) {
    case kBool:
    case kOn:
    case kIgnoring:
    case kGroupLeft:
    case kGroupRight:
      return true;
    case kBinary:
      return token.op == BinaryOp::kAtan2;
    default:
      return false;
  }
}

bool begins_expression(const Token& token) {
  using enum TokenKind;
  if (is_metric_name(token)) return true;
  switch (token.kind) {
    case kNumber:
    case kDuration:
    case kString:
    case kLeftParenthesis:
    case kLeftBrace:
      return true;
    default:
      return is_sign(token);
  }
}

}  // namespace halite::query::promql
