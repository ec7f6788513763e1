#include "query/promql/lexer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "query/promql/go_text.h"
#include "query/promql/keywords.h"
#include "query/promql/number.h"
#include "query/promql/parse.h"

namespace halite::query::promql {
namespace {

constexpr std::string_view kBlankCharacters = " \t\n\r";

bool is_blank(char c) { return kBlankCharacters.contains(c); }
bool begins_word(char c) { return is_letter(c) || c == '_'; }
bool begins_number(std::string_view text) {
  return is_digit(text[0]) || (text[0] == '.' && text.size() > 1 && is_digit(text[1]));
}

}  // namespace

std::unexpected<Error> parse_error(std::string_view text, std::size_t at,
                                   std::string_view message) {
  return fail(Errc::kInvalidArgument,
              fmt::format("{}: parse error: {}", line_and_column(text, at), message));
}

std::string line_and_column(std::string_view text, std::size_t at) {
  if (text.empty()) return "unknown position";
  const std::string_view before = text.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 if there is none
  return fmt::format("{}:{}", line, before.size() - line_begin + 1);
}

void Lexer::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

void Lexer::skip_blanks_and_comments() {
  skip_blanks();
  while (peek() == '#') {
    at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    skip_blanks();
  }
}

char32_t Lexer::character(std::size_t at) const {
  if (at >= text_.size()) return U'\uFFFD';
  const CodePoint next = decode_utf8(text_.substr(at));
  const bool is_surrogate = next.value >= 0xD800 && next.value <= 0xDFFF;
  return next.bytes == 0 || is_surrogate ? U'\uFFFD' : next.value;
}

std::unexpected<Error> Lexer::fail_at_start(std::string_view message) const {
  return parse_error(text_, start_, message);
}

std::unexpected<Error> Lexer::fail_behind(std::string_view message) const {
  return parse_error(text_, at_, message);
}

Token Lexer::token(TokenKind kind) const {
  Token token;
  token.kind = kind;
  token.text = text_.substr(start_, at_ - start_);
  token.at = {start_, at_};
  return token;
}

Token Lexer::take(TokenKind kind, std::size_t bytes) {
  at_ += bytes;
  return token(kind);
}

Token Lexer::take(BinaryOp op) {
  Token taken = take(TokenKind::kBinary, binary_symbol(op).size());
  taken.op = op;
  return taken;
}

Result<Token> Lexer::next() {
  if (in_duration_) {
    skip_blanks();
    start_ = at_;
    return duration_token();
  }
  skip_blanks_and_comments();
  start_ = at_;
  return in_braces_ ? brace_token() : statement_token();
}

Result<Token> Lexer::statement_token() {
  if (at_ == text_.size()) return end();
  const char c = text_[at_];
  if (begins_number(text_.substr(at_))) return number();
  if (c == '"' || c == '\'' || c == '`') return string();
  if (begins_word(c) || c == ':') return in_brackets_ ? colon_or_word_in_brackets() : word();
  switch (c) {
    case ',':
      return take(TokenKind::kComma, 1);
    case '@':
      return take(TokenKind::kAt, 1);
    case '(':
      ++parentheses_;
      return take(TokenKind::kLeftParenthesis, 1);
    case ')':
      return right_parenthesis();
    case '{':
      in_braces_ = true;
      return take(TokenKind::kLeftBrace, 1);
    case '[':
      return left_bracket();
    case ']':
      if (!in_brackets_) return fail_at_start("unexpected right bracket ']'");
      in_brackets_ = false;
      return take(TokenKind::kRightBracket, 1);
    default:
      return symbol();
  }
}

Result<Token> Lexer::symbol() {
  using enum BinaryOp;
  const std::string_view rest = text_.substr(at_);
  // Longer ones first.
  for (const BinaryOp op :
       {kEqual, kNotEqual, kLessEqual, kGreaterEqual, kTrimUpper, kTrimLower, kLess, kGreater, kAdd,
        kSubtract, kMultiply, kDivide, kModulo, kPower}) {
    if (rest.starts_with(binary_symbol(op))) return take(op);
  }
  const auto unexpected_behind = [this](char before) {
    return fail_at_start(fmt::format("unexpected character after '{}': {}", before,
                                     quoted_character(character(at_ + 1))));
  };
  if (rest.starts_with("=~")) return unexpected_behind('=');
  if (rest.front() == '!') return unexpected_behind('!');
  if (rest.front() == '=') return take(TokenKind::kAssign, 1);
  return fail_at_start("unexpected character: " + quoted_character(character(at_)));
}

Result<Token> Lexer::end() {
  if (parentheses_ > 0) return fail_at_start("unclosed left parenthesis");
  if (in_brackets_) return fail_at_start("unclosed left bracket");
  return token(TokenKind::kEnd);
}

Result<Token> Lexer::word() {
  while (is_word_character(peek()) || peek() == ':') ++at_;
  Token word = token(TokenKind::kIdentifier);
  if (word.text.contains(':')) {
    word.kind = TokenKind::kMetricIdentifier;
    return word;
  }
  const Keyword* const keyword = find_keyword(word.text);
  if (keyword == nullptr) return word;
  const bool is_fill = keyword->kind == TokenKind::kFill || keyword->kind == TokenKind::kFillLeft ||
                       keyword->kind == TokenKind::kFillRight;
  if (is_fill) {
    const std::size_t behind = text_.find_first_not_of(kBlankCharacters, at_);
    if (behind == std::string_view::npos || text_[behind] != '(') return word;
  }
  word.kind = keyword->kind;
  word.op = keyword->op;
  word.aggregate = keyword->aggregate;
  return word;
}

Result<Token> Lexer::colon_or_word_in_brackets() {
  if (peek() != ':') {
    return duration_word(
        fmt::format("unexpected character: {}, expected ':'", quoted_character(character(at_))));
  }
  if (std::exchange(had_colon_, true)) return fail_at_start("unexpected colon ':'");
  return take(TokenKind::kColon, 1);
}

Result<Token> Lexer::left_bracket() {
  if (in_brackets_) return fail_at_start("unexpected left bracket '['");
  in_brackets_ = true;
  in_duration_ = true;
  had_colon_ = false;
  return take(TokenKind::kLeftBracket, 1);
}

Result<Token> Lexer::right_parenthesis() {
  Token taken = take(TokenKind::kRightParenthesis, 1);
  if (parentheses_ == 0) return fail_behind("unexpected right parenthesis ')'");
  --parentheses_;
  return taken;
}

Result<Token> Lexer::brace_token() {
  if (at_ == text_.size()) return fail_at_start("unexpected end of input inside braces");
  const std::string_view rest = text_.substr(at_);
  const char c = rest.front();
  if (begins_word(c)) {
    while (is_word_character(peek())) ++at_;
    return token(TokenKind::kIdentifier);
  }
  if (c == '"' || c == '\'' || c == '`') return string();
  if (c == ',') return take(TokenKind::kComma, 1);
  if (rest.starts_with("=~")) return take(TokenKind::kMatchRegexp, 2);
  if (c == '=') return take(TokenKind::kAssign, 1);
  if (rest.starts_with("!~")) return take(TokenKind::kMatchNotRegexp, 2);
  if (rest.starts_with("!=")) return take(BinaryOp::kNotEqual);
  if (c == '!') {
    return fail_at_start("unexpected character after '!' inside braces: " +
                         quoted_character(character(at_ + 1)));
  }
  if (c == '{') return fail_at_start("unexpected left brace '{'");
  if (c == '}') {
    in_braces_ = false;
    return take(TokenKind::kRightBrace, 1);
  }
  return fail_at_start("unexpected character inside braces: " + quoted_character(character(at_)));
}

Result<Token> Lexer::duration_token() {
  if (at_ == text_.size()) {
    return fail_at_start("unexpected end of input in duration expression");
  }
  const char c = text_[at_];
  const std::string unexpected =
      "unexpected character in duration expression: " + quoted_character(character(at_));
  if (begins_number(text_.substr(at_))) {
    had_number_ = true;
    in_duration_ = false;
    return number();
  }
  switch (c) {
    case ']':
      in_brackets_ = false;
      in_duration_ = false;
      return take(TokenKind::kRightBracket, 1);
    case ':': {
      Token taken = take(TokenKind::kColon, 1);
      if (!had_number_) {
        return fail_behind("unexpected colon before duration in duration expression");
      }
      if (std::exchange(had_colon_, true)) {
        return fail_behind("unexpected repeated colon in duration expression");
      }
      return taken;
    }
    case '(':
      ++parentheses_;
      return take(TokenKind::kLeftParenthesis, 1);
    case ')':
      return right_parenthesis();
    case ',':
      return take(TokenKind::kComma, 1);
    default:
      break;
  }
  using enum BinaryOp;
  for (const BinaryOp op : {kAdd, kSubtract, kMultiply, kDivide, kModulo, kPower}) {
    if (c == binary_symbol(op).front()) return take(op);
  }
  return duration_word(unexpected);
}

Result<Token> Lexer::duration_word(std::string_view message) {
  if (!begins_word(peek())) return fail_at_start(message);
  while (begins_word(peek())) ++at_;
  Token word = token(TokenKind::kIdentifier);
  const Keyword* const keyword = find_keyword(word.text);
  const bool is_allowed =
      keyword != nullptr &&
      (keyword->kind == TokenKind::kStep || keyword->kind == TokenKind::kRange ||
       keyword->kind == TokenKind::kMaxOf || keyword->kind == TokenKind::kMinOf);
  if (!is_allowed) {
    return fail_at_start(message);
  }
  word.kind = keyword->kind;
  return word;
}

Result<Token> Lexer::number() {
  const ScannedNumber scanned = scan_number(text_.substr(at_));
  at_ += scanned.bytes;
  switch (scanned.kind) {
    case ScannedNumber::Kind::kNumber:
      return token(TokenKind::kNumber);
    case ScannedNumber::Kind::kDuration:
      return token(TokenKind::kDuration);
    case ScannedNumber::Kind::kNeither:
      break;
  }
  return fail_at_start("bad number or duration syntax: " +
                       go_quoted(text_.substr(start_, at_ - start_)));
}

Result<Token> Lexer::string() {
  QuotedText string = read_quoted(text_.substr(at_));
  if (string.fault != QuotedFault::kNone) return fail_at_start(string_fault(string, peek()));
  Token taken = take(TokenKind::kString, string.bytes);
  taken.value = std::move(string.value);
  return taken;
}

std::string Lexer::string_fault(const QuotedText& string, char quote) const {
  switch (string.fault) {
    case QuotedFault::kNotUtf8:
      return "invalid UTF-8 rune";
    case QuotedFault::kEscapeUnknown:
      return "unknown escape sequence " + character_name(string.character);
    case QuotedFault::kEscapeCut:
      return "escape sequence not terminated";
    case QuotedFault::kEscapeDigit:
      return fmt::format("illegal character {} in escape sequence",
                         character_name(string.character));
    case QuotedFault::kEscapeByte:
    case QuotedFault::kEscapeCharacter:
      return "escape sequence is an invalid Unicode code point";
    default:
      return quote == '`' ? "unterminated raw string" : "unterminated quoted string";
  }
}

std::string describe(const Token& token) {
  using enum TokenKind;
  constexpr std::size_t kShownCharacters = 10;
  const auto shown = [&token] {
    if (token.text.size() <= kShownCharacters) return go_quoted(token.text);
    // Ten characters, not bytes.
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kShownCharacters && bytes < token.text.size(); ++i) {
      bytes += std::max<std::size_t>(1, decode_utf8(token.text.substr(bytes)).bytes);
    }
    return go_quoted(token.text.substr(0, bytes)) + "...";
  };
  switch (token.kind) {
    case kEnd:
      return "end of input";
    case kIdentifier:
      return "identifier " + go_quoted(token.text);
    case kMetricIdentifier:
      return "metric identifier " + go_quoted(token.text);
    case kNumber:
      return "number " + shown();
    case kDuration:
      return "duration " + shown();
    case kString:
      return "string " + shown();
    case kBinary:
    case kMatchRegexp:
    case kMatchNotRegexp:
    case kAt:
      return fmt::format("<op:{}>", token.text);
    case kAggregate:
      return fmt::format("<aggr:{}>", token.text);
    default:
      break;
  }
  if (token.kind >= kBool && token.kind <= kWithout) return fmt::format("<{}>", token.text);
  return go_quoted(token.text);
}

}  // namespace halite::query::promql
