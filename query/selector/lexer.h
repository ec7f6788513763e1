// Splits the text of a selector into tokens, and decodes its strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "query/selector/quoted.h"

namespace halite::query {

enum class SelectorTokenKind : std::uint8_t { kName, kString, kSymbol, kEnd };

struct SelectorToken {
  SelectorTokenKind kind = SelectorTokenKind::kEnd;
  std::string_view text;  // as written; kSymbol: one of { } , = != =~ !~
  std::string value;      // of a string, decoded
  std::size_t at = 1;     // its first byte, from 1
};

// An error at a byte of the text: "byte 3: ...".
[[nodiscard]] std::unexpected<Error> selector_error(std::size_t at, std::string_view what);

// Names are those of metrics, with ':'. Strings have double or single quotes and Go's escapes, or
// backquotes and none. A '#' begins a comment up to the end of its line.
class SelectorLexer {
 public:
  // `text` outlives the lexer and its tokens.
  explicit SelectorLexer(std::string_view text) : text_(text) {}

  // kInvalidArgument: no token begins here, or a string is wrong.
  [[nodiscard]] Result<SelectorToken> next();

 private:
  void skip_blanks();
  [[nodiscard]] Result<SelectorToken> string();
  [[nodiscard]] std::unexpected<Error> string_error(const QuotedText& quoted) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace halite::query
