#include "query/selector/lexer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "query/selector/quoted.h"

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
  QuotedText quoted = read_quoted(text_.substr(at_));
  if (quoted.fault != QuotedFault::kNone) return string_error(quoted);
  SelectorToken token;
  token.kind = SelectorTokenKind::kString;
  token.at = at_ + 1;
  token.text = text_.substr(at_, quoted.bytes);
  token.value = std::move(quoted.value);
  at_ += quoted.bytes;
  // Escapes of bytes make other strings.
  if (!is_utf8(token.value)) return selector_error(token.at, "the string is not UTF-8");
  return token;
}

std::unexpected<Error> SelectorLexer::string_error(const QuotedText& quoted) const {
  const std::size_t begin = at_ + 1;
  const std::size_t escape = begin + quoted.at;
  switch (quoted.fault) {
    case QuotedFault::kNotUtf8:
      return selector_error(begin, "the string is not UTF-8");
    case QuotedFault::kEscapeUnknown:
      return selector_error(escape,
                            fmt::format("\"\\{}\" is no escape; a backslash is written \\\\",
                                        first_character(text_.substr(escape))));
    case QuotedFault::kEscapeDigit:
      return selector_error(
          escape, fmt::format("the escape needs {} digits of base {}", quoted.digits, quoted.base));
    case QuotedFault::kEscapeByte:
      return selector_error(escape, "an octal escape is at most \\377");
    case QuotedFault::kEscapeCharacter:
      return selector_error(escape, "the escape is no character of Unicode");
    default:
      return selector_error(begin, "a string without an end");
  }
}

}  // namespace halite::query
