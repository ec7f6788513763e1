// Splits the text of PromQL into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "query/promql/tree.h"
#include "query/selector/quoted.h"

namespace halite::query::promql {

enum class TokenKind : std::uint8_t {
  kEnd,
  kIdentifier,
  kMetricIdentifier,  // with a ':'
  kNumber,
  kDuration,
  kString,

  kLeftParenthesis,
  kRightParenthesis,
  kLeftBrace,
  kRightBrace,
  kLeftBracket,
  kRightBracket,
  kComma,
  kColon,
  kAssign,  // =

  kBinary,          // an operator: Token::op
  kMatchRegexp,     // =~
  kMatchNotRegexp,  // !~
  kAt,

  kAggregate,  // Token::aggregate

  kBool,
  kBy,
  kGroupLeft,
  kGroupRight,
  kFill,
  kFillLeft,
  kFillRight,
  kIgnoring,
  kOffset,
  kSmoothed,
  kAnchored,
  kOn,
  kWithout,

  kStart,
  kEndOfQuery,  // the word "end"
  kStep,
  kRange,
  kMaxOf,
  kMinOf,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  BinaryOp op = BinaryOp::kAdd;
  AggregateOp aggregate = AggregateOp::kSum;
  std::string_view text;  // as written
  std::string value;      // of a string, decoded
  Position at;
};

// How messages name it: identifier "n", <by>, <op:+>, end of input.
[[nodiscard]] std::string describe(const Token& token);

// "1:5: parse error: MESSAGE".
[[nodiscard]] std::unexpected<Error> parse_error(std::string_view text, std::size_t at,
                                                 std::string_view message);

class Lexer {
 public:
  // `text` outlives the lexer and its tokens.
  explicit Lexer(std::string_view text) : text_(text) {}

  // kEnd at the end, each time.
  [[nodiscard]] Result<Token> next();

 private:
  void skip_blanks();
  void skip_blanks_and_comments();
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  // The character at `at`, U+FFFD if it is not UTF-8 or the end.
  [[nodiscard]] char32_t character(std::size_t at) const;

  // An error at the start of the token, or behind the text that was read of it.
  [[nodiscard]] std::unexpected<Error> fail_at_start(std::string_view message) const;
  [[nodiscard]] std::unexpected<Error> fail_behind(std::string_view message) const;
  [[nodiscard]] Token token(TokenKind kind) const;
  [[nodiscard]] Token take(TokenKind kind, std::size_t bytes);
  [[nodiscard]] Token take(BinaryOp op);

  [[nodiscard]] Result<Token> statement_token();
  [[nodiscard]] Result<Token> symbol();
  [[nodiscard]] Result<Token> end();
  [[nodiscard]] Result<Token> word();
  [[nodiscard]] Result<Token> colon_or_word_in_brackets();
  [[nodiscard]] Result<Token> left_bracket();
  [[nodiscard]] Result<Token> right_parenthesis();
  [[nodiscard]] Result<Token> brace_token();
  // Behind [ up to the first number; then as in other places, but with the rules of brackets.
  [[nodiscard]] Result<Token> duration_token();
  [[nodiscard]] Result<Token> duration_word(std::string_view message);
  [[nodiscard]] Result<Token> number();
  [[nodiscard]] Result<Token> string();
  [[nodiscard]] std::string string_fault(const QuotedText& string, char quote) const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  // of the token

  std::size_t parentheses_ = 0;  // open ones
  bool in_braces_ = false;
  bool in_brackets_ = false;
  bool in_duration_ = false;
  bool had_colon_ = false;   // in these brackets
  bool had_number_ = false;  // at the start of these or earlier brackets
};

}  // namespace halite::query::promql
