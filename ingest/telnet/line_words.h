// The words of a telnet line with a point. Private to ingest/.
//
// A single blank separates words. Two blanks make an empty word, which only the tags may contain.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/utf8.h"
#include "ingest/rules/java_number.h"
#include "ingest/rules/refusal.h"
#include "ingest/rules/tag_map.h"

namespace halite::ingest {

// How a line with a point begins.
inline constexpr std::string_view kPutCommand = "put";

[[nodiscard]] std::string_view without_return(std::string_view line);

// Removes a word and the next blank. Returns nullopt if there is no blank.
[[nodiscard]] std::optional<std::string_view> take_word(std::string_view& rest);

// All words, including empty ones. The command is first.
[[nodiscard]] std::vector<std::string_view> split_line(std::string_view line);

// Calls `parse` with the words of a line. A line that is not UTF-8 is read as ISO-8859-1.
template <class Parse>
[[nodiscard]] auto parse_line_words(std::string_view line, const Parse& parse) {
  line = without_return(line);
  if (is_utf8(line)) return parse(split_line(line));
  const std::string text = latin1_to_utf8(line);
  return parse(split_line(text));
}

// Adds the tag of a word "key=value".
[[nodiscard]] std::expected<void, Refused> add_tag(TagMap& tags, std::string_view word);

// Seconds or milliseconds. A dot is ignored: "1356998400.500" is in milliseconds.
[[nodiscard]] NumberOr<std::int64_t> parse_line_timestamp(std::string_view word);

}  // namespace halite::ingest
