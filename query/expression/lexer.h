// Cuts an expression's text into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite::query {

enum class TokenKind : std::uint8_t { kNumber, kName, kOperator, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  // Operators under their symbol, however written: "and" is "&&". Numbers and names as they stand.
  std::string_view text;
  std::string_view image;  // as written
  std::size_t line = 1;    // both from 1
  std::size_t column = 1;
};

// Ends with a kEnd token. kInvalidArgument: a character that begins no token; the message is
// JEXL's.
[[nodiscard]] Result<std::vector<Token>> tokenize(std::string_view text);

// JEXL's words for a fault at a place: "<where>@1:3 parsing error in 'a +'", or, for ten letters
// and more, "near" with the letters around.
[[nodiscard]] std::string jexl_fault(std::string_view where, const Token& token,
                                     std::string_view kind, std::string_view text);

// Where OpenTSDB parses expressions of a question; part of its messages.
inline constexpr std::string_view kJexlCaller = "net.opentsdb.query.pojo.Expression.validate";

}  // namespace halite::query
