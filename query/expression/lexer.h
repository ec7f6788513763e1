// Splits the text of an expression into tokens.
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
  // Operators as their symbol, however written: "and" is "&&". Numbers and names as written.
  std::string_view text;
  std::string_view image;  // as written
  std::size_t line = 1;    // both count from 1
  std::size_t column = 1;
};

// The last token is kEnd. kInvalidArgument: a character that begins no token; the message is
// JEXL's.
[[nodiscard]] Result<std::vector<Token>> tokenize(std::string_view text);

// JEXL's message for an error at a token: "<where>@1:3 parsing error in 'a +'". For ten characters
// and more it says "near" and the characters around the token.
[[nodiscard]] std::string jexl_fault(std::string_view where, const Token& token,
                                     std::string_view kind, std::string_view text);

// The place where OpenTSDB parses the expressions of a query; part of its messages.
inline constexpr std::string_view kJexlCaller = "net.opentsdb.query.pojo.Expression.validate";

}  // namespace halite::query
