#include "query/parse/json_text.h"

#include <array>

#include <fmt/format.h>

namespace halite::query {
namespace {

bool may_end_a_value(char c) { return std::string_view(" \t\r\n,]}").contains(c); }

// The literal at the start that only Jackson accepts as a number; empty if there is none.
std::string_view non_number(std::string_view text) {
  constexpr std::array<std::string_view, 4> kLiterals = {"NaN", "Infinity", "-Infinity", "-INF"};
  for (const std::string_view literal : kLiterals) {
    if (!text.starts_with(literal)) continue;
    if (text.size() == literal.size() || may_end_a_value(text[literal.size()])) return literal;
  }
  return {};
}

// Whether first_value() handles the character.
bool means_something(char c) {
  switch (c) {
    case '"':
    case '{':
    case '}':
    case '[':
    case ']':
    case 'N':
    case 'I':
    case '-':
      return true;
    default:
      return false;
  }
}

// The end of the string that begins at `begin`: after its closing quote.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

// The first object or array of a body, with quotes around literals that simdjson does not accept. A
// body with another start is returned whole.
std::string first_value(std::string_view body) {
  std::string value;
  value.reserve(body.size() + simdjson::SIMDJSON_PADDING);  // saves the parser a copy
  std::size_t depth = 0;
  for (std::size_t i = 0; i < body.size();) {
    const std::size_t plain_from = i;
    while (i < body.size() && !means_something(body[i])) ++i;
    value += body.substr(plain_from, i - plain_from);
    if (i == body.size()) break;
    std::string_view piece = body.substr(i, 1);
    const char c = piece.front();
    if (c == '"') {
      piece = body.substr(i, end_of_string(body, i) - i);
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      if (depth == 0) {
        value += c;
        break;
      }
    } else if (const std::string_view literal = non_number(body.substr(i)); !literal.empty()) {
      value += fmt::format("\"{}\"", literal);
      i += literal.size();
      continue;
    }
    value += piece;
    i += piece.size();
  }
  return value;
}

}  // namespace

simdjson::simdjson_result<simdjson::dom::element> parse_body(simdjson::dom::parser& parser,
                                                             std::string_view body,
                                                             std::size_t depth_max) {
  const std::string value = first_value(body);
  if (const auto error = parser.allocate(value.size(), depth_max)) return error;
  return parser.parse(value);
}

std::optional<std::string> json_text(simdjson::dom::element value) {
  switch (value.type()) {
    case simdjson::dom::element_type::NULL_VALUE:
      return std::string();
    case simdjson::dom::element_type::STRING:
      return std::string(value.get_string().value_unsafe());
    case simdjson::dom::element_type::BOOL:
      return std::string(value.get_bool().value_unsafe() ? "true" : "false");
    case simdjson::dom::element_type::INT64:
      return fmt::format("{}", value.get_int64().value_unsafe());
    case simdjson::dom::element_type::UINT64:
      return fmt::format("{}", value.get_uint64().value_unsafe());
    case simdjson::dom::element_type::DOUBLE:
      return fmt::format("{}", value.get_double().value_unsafe());
    default:
      return std::nullopt;
  }
}

}  // namespace halite::query
