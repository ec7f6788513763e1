#include "query/expression/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite::query {
namespace {

bool begins_name(char c) { return is_letter(c) || c == '_' || c == '$'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kWords = {{
    {"and", "&&"},
    {"or", "||"},
    {"not", "!"},
    {"eq", "=="},
    {"ne", "!="},
    {"lt", "<"},
    {"le", "<="},
    {"gt", ">"},
    {"ge", ">="},
    {"mod", "%"},
    {"div", "/"},
}};

// Longer operators come first.
constexpr std::array<std::string_view, 27> kOperators = {
    "&&", "||", "==", "!=", "<=", ">=", "?:", "<", ">", "=", "!", "+", "-", "*",
    "/",  "%",  "(",  ")",  "?",  ":",  ";",  ",", "&", "|", "^", "~", "."};

// The length of the number at the start: digits, a point, an exponent, a letter for its type.
std::size_t number_length(std::string_view text) {
  std::size_t n = 0;
  const auto digits = [&] {
    while (n < text.size() && is_digit(text[n])) ++n;
  };
  digits();
  if (n + 1 < text.size() && text[n] == '.' && is_digit(text[n + 1])) {
    ++n;
    digits();
  }
  if (n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    std::size_t at = n + 1;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (at < text.size() && is_digit(text[at])) {
      n = at;
      digits();
    }
  }
  constexpr std::string_view kTypes = "lLhHfFdDbB";
  if (n < text.size() && kTypes.contains(text[n])) ++n;
  return n;
}

std::size_t name_length(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, continues_name) - text.begin());
}

// The token at the start; kEnd if there is none.
Token read_token(std::string_view rest) {
  Token token;
  const char c = rest.front();
  if (is_digit(c) || (c == '.' && rest.size() > 1 && is_digit(rest[1]))) {
    token.kind = TokenKind::kNumber;
    token.image = rest.substr(0, number_length(rest));
  } else if (begins_name(c)) {
    token.kind = TokenKind::kName;
    token.image = rest.substr(0, name_length(rest));
  } else {
    for (const std::string_view symbol : kOperators) {
      if (!rest.starts_with(symbol)) continue;
      token.kind = TokenKind::kOperator;
      token.image = rest.substr(0, symbol.size());
      break;
    }
  }
  token.text = token.image;
  for (const auto& [word, symbol] : kWords) {
    if (token.kind != TokenKind::kName || token.image != word) continue;
    token.kind = TokenKind::kOperator;
    token.text = symbol;
  }
  return token;
}

}  // namespace

std::string jexl_fault(std::string_view where, const Token& token, std::string_view kind,
                       std::string_view text) {
  std::string message = fmt::format("{}@{}:{} {} error ", where, token.line, token.column, kind);
  if (text.size() < 10) return message + fmt::format("in '{}'", text);
  // Five characters on each side of the column, or ten from the start.
  const std::size_t begin = token.column < 5 ? 0 : token.column - 5;
  const std::size_t end = token.column < 5 ? token.column + 10 : token.column + 5;
  const std::size_t from = std::min(begin, text.size());
  return message + fmt::format("near '... {} ...'", text.substr(from, end - begin));
}

Result<std::vector<Token>> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      line_start = at + 1;
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
      ++at;
      continue;
    }
    Token token = read_token(text.substr(at));
    token.line = line;
    token.column = at - line_start + 1;
    if (token.kind == TokenKind::kEnd) {
      return fail(Errc::kInvalidArgument, jexl_fault(kJexlCaller, token, "tokenization", text));
    }
    at += token.image.size();
    tokens.push_back(token);
  }
  // JEXL puts the end at the last character.
  Token end;
  end.line = line;
  end.column = std::max<std::size_t>(1, text.size() - line_start);
  end.text = end.image = text.substr(text.size());
  tokens.push_back(end);
  return tokens;
}

}  // namespace halite::query
