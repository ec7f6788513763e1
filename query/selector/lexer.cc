#include "query/selector/lexer.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"

namespace halite::query {
namespace {

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The first character, for messages: whole if it is UTF-8.
std::string first_character(std::string_view text) {
  const std::size_t bytes = decode_utf8(text).bytes;
  return repair_utf8(text.substr(0, std::max<std::size_t>(1, bytes)));
}

}  // namespace

std::unexpected<Error> selector_error(std::size_t at, std::string_view what) {
  return fail(Errc::kInvalidArgument, fmt::format("byte {}: {}", at, what));
}

void SelectorLexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (is_blank(text_[at_])) {
      ++at_;
    } else {
      return;
    }
  }
}

Result<SelectorToken> SelectorLexer::next() {
  skip_blanks();
  const std::string_view rest = text_.substr(at_);
  SelectorToken token;
  token.at = at_ + 1;
  if (rest.empty()) return token;
  const char c = rest.front();
  if (c == '"' || c == '\'' || c == '`') return string();
  std::size_t size = 0;
  if (begins_name(c)) {
    token.kind = SelectorTokenKind::kName;
    while (size < rest.size() && (begins_name(rest[size]) || is_digit(rest[size]))) ++size;
  } else {
    token.kind = SelectorTokenKind::kSymbol;
    if (rest.starts_with("=~") || rest.starts_with("!=") || rest.starts_with("!~")) {
      size = 2;
    } else if (c == '{' || c == '}' || c == ',' || c == '=') {
      size = 1;
    } else {
      return selector_error(
          token.at, fmt::format("\"{}\" has no place here; names with other characters than "
                                "letters, digits, _ and : have quotes: {{\"sys.cpu\"}}",
                                first_character(rest)));
    }
  }
  token.text = rest.substr(0, size);
  at_ += size;
  return token;
}

Result<SelectorToken> SelectorLexer::string() {
  const std::size_t from = at_;
  const char quote = text_[at_++];
  SelectorToken token;
  token.kind = SelectorTokenKind::kString;
  token.at = from + 1;
  const auto without_end = [&] { return selector_error(from + 1, "a string without an end"); };
  while (true) {
    if (at_ == text_.size()) return without_end();
    const char c = text_[at_++];
    if (c == quote) break;
    if (c == '\n' && quote != '`') return without_end();
    if (c != '\\' || quote == '`') {
      token.value += c;
      continue;
    }
    if (at_ == text_.size()) return without_end();
    TRY_VOID(escape(quote, token.value));
  }
  if (!is_utf8(token.value)) return selector_error(from + 1, "the string is not UTF-8");
  token.text = text_.substr(from, at_ - from);
  return token;
}

Result<void> SelectorLexer::escape(char quote, std::string& to) {
  static constexpr std::string_view kLetters = "abfnrtv\\";
  static constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\";
  const std::size_t from = at_;  // 1 behind the backslash, so its place from 1
  const char c = text_[at_++];
  if (const std::size_t letter = kLetters.find(c); letter != std::string_view::npos) {
    to += kMeant[letter];
    return {};
  }
  if (c == quote) {
    to += c;
    return {};
  }
  if (c >= '0' && c <= '7') {
    --at_;
    TRY(const char32_t byte, digits(3, 8, from));
    if (byte > 0xFF) return selector_error(from, "an octal escape is at most \\377");
    to += static_cast<char>(byte);
    return {};
  }
  if (c == 'x') {
    TRY(const char32_t byte, digits(2, 16, from));
    to += static_cast<char>(byte);
    return {};
  }
  if (c != 'u' && c != 'U') {
    return selector_error(from, fmt::format("\"\\{}\" is no escape; a backslash is written \\\\",
                                            first_character(text_.substr(from))));
  }
  TRY(const char32_t point, digits(c == 'u' ? 4 : 8, 16, from));
  if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
    return selector_error(from, "the escape is no character of Unicode");
  }
  append_utf8(to, point);
  return {};
}

Result<char32_t> SelectorLexer::digits(std::size_t digits, int base, std::size_t from) {
  char32_t number = 0;
  for (std::size_t i = 0; i < digits; ++i, ++at_) {
    const int digit = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
    if (digit < 0 || digit >= base) {
      return selector_error(from,
                            fmt::format("the escape needs {} digits of base {}", digits, base));
    }
    number = number * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
  }
  return number;
}

}  // namespace halite::query
