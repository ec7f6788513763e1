// Selectors: names of metrics, and matchers in braces.
#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include "query/promql/keywords.h"
#include "query/promql/parser.h"

namespace halite::query::promql {
namespace {

// What Go's message says for a fault that RE2 finds.
std::string_view regexp_fault(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "regexp/syntax: internal error";
  }
}

// Of a regular expression that does not compile.
std::string regexp_message(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 regexp(pattern, options);
  // Go names the rest behind a trailing backslash, of which there is none.
  const bool is_backslash = regexp.error_code() == re2::RE2::ErrorTrailingBackslash;
  return fmt::format("error parsing regexp: {}: `{}`", regexp_fault(regexp.error_code()),
                     is_backslash ? "" : regexp.error_arg());
}

}  // namespace

// `name` is the token before, or none.
Result<ParsedExpr> Parser::selector(const Token& name) {
  VectorSelector selector;
  selector.name = name.text;
  Position at = name.at;
  TRY(const TokenKind next, peek());
  if (next == TokenKind::kLeftBrace) {
    TRY(const Position braces_at, braces(selector));
    at = {name.text.empty() ? braces_at.begin : name.at.begin, braces_at.end};
  }
  if (!selector.name.empty()) {
    TRY(LabelMatcher matcher,
        make_matcher(std::string(kMetricLabel), MatchKind::kEqual, selector.name, name.at.begin));
    selector.matchers.push_back(std::move(matcher));
  }
  return make(at, ValueType::kVector, std::move(selector), 1);
}

Result<Position> Parser::braces(VectorSelector& selector) {
  const Token open = take();
  TRY(TokenKind next, peek());
  while (next != TokenKind::kRightBrace) {
    TRY(LabelMatcher matcher, this->matcher());
    selector.matchers.push_back(std::move(matcher));
    TRY(next, peek());
    if (next == TokenKind::kRightBrace) break;
    if (next != TokenKind::kComma) return unexpected({"label matching", "\",\" or \"}\""});
    take();
    TRY(next, peek());
  }
  return Position{open.at.begin, take().at.end};
}

// name="value", "name"="value", or "metric". The next token was peeked.
Result<LabelMatcher> Parser::matcher() {
  if (token_.kind == TokenKind::kIdentifier) {
    const Token name = take();
    return matcher_value(std::string(name.text), name.at.begin);
  }
  if (token_.kind != TokenKind::kString) {
    return unexpected({"label matching", "identifier or \"}\""});
  }
  Token name = take();
  TRY(const TokenKind next, peek());
  const bool has_value = next == TokenKind::kAssign || next == TokenKind::kBinary ||
                         next == TokenKind::kMatchRegexp || next == TokenKind::kMatchNotRegexp;
  if (has_value) return matcher_value(std::move(name.value), name.at.begin);
  return make_matcher(std::string(kMetricLabel), MatchKind::kEqual, std::move(name.value),
                      name.at.begin);
}

Result<LabelMatcher> Parser::matcher_value(std::string name, std::size_t at) {
  TRY(const TokenKind op, peek());
  MatchKind kind = MatchKind::kEqual;
  switch (op) {
    case TokenKind::kAssign:
      break;
    case TokenKind::kBinary:  // within braces != is the only one
      kind = MatchKind::kNotEqual;
      break;
    case TokenKind::kMatchRegexp:
      kind = MatchKind::kRegexp;
      break;
    case TokenKind::kMatchNotRegexp:
      kind = MatchKind::kNotRegexp;
      break;
    default:
      return unexpected({"label matching", "label matching operator"});
  }
  take();
  TRY(const TokenKind next, peek());
  if (next != TokenKind::kString) return unexpected({"label matching", "string"});
  return make_matcher(std::move(name), kind, take().value, at);
}

Result<LabelMatcher> Parser::make_matcher(std::string name, MatchKind kind, std::string value,
                                          std::size_t at) const {
  auto made = LabelMatcher::make(std::move(name), kind, value, options_.regexps);
  if (made || made.error().code == Errc::kTooLarge) return made;
  return fail_at(at, regexp_message(value));
}

Result<VectorSelector> Parser::parse_selector() {
  TRY(const TokenKind first, peek());
  if (first != TokenKind::kLeftBrace && !is_metric_name(token_)) return unexpected();
  TRY(ParsedExpr parsed, selector(first == TokenKind::kLeftBrace ? Token() : take()));
  TRY_VOID(expect(TokenKind::kEnd));
  return std::move(std::get<VectorSelector>(parsed.expr->node));
}

Result<Selector> parse_series_selector(std::string_view text, const ParseOptions& options) {
  if (text.size() > options.bytes_max) {
    return fail(Errc::kTooLarge, fmt::format("the selector has {} bytes, more than {} "
                                             "(query.promql_bytes_max)",
                                             text.size(), options.bytes_max));
  }
  TRY(VectorSelector selector, Parser(text, options).parse_selector());
  if (std::ranges::all_of(selector.matchers, &LabelMatcher::matches_absent)) {
    return fail(Errc::kInvalidArgument, "match[] must contain at least one non-empty matcher");
  }
  return Selector{std::move(selector.matchers)};
}

}  // namespace halite::query::promql
