// The words of a telnet line that carries a point. Private to ingest/.
//
// Words are parted by single blanks: two of them make an empty word, which only the tag part
// ignores.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/utf8.h"
#include "ingest/number_text.h"
#include "ingest/refusal.h"
#include "ingest/tag_map.h"

namespace halite::ingest {

[[nodiscard]] std::string_view without_return(std::string_view line);

// Up to the next blank; both it and the word are taken off. Nothing: there is no blank.
[[nodiscard]] std::optional<std::string_view> take_word(std::string_view& rest);

// All words, empty ones too, the command first.
[[nodiscard]] std::vector<std::string_view> split_line(std::string_view line);

// What `parse` makes of the words of a line. A line that is not UTF-8 is ISO-8859-1.
template <class Parse>
[[nodiscard]] auto parse_line_words(std::string_view line, const Parse& parse) {
  line = without_return(line);
  if (is_utf8(line)) return parse(split_line(line));
  const std::string text = latin1_to_utf8(line);
  return parse(split_line(text));
}

// Adds the tag that a word "key=value" names.
[[nodiscard]] std::expected<void, Refused> add_tag(TagMap& tags, std::string_view word);

// Seconds or milliseconds. A dot is simply left out: "1356998400.500" is in milliseconds.
[[nodiscard]] NumberOr<std::int64_t> parse_line_timestamp(std::string_view word);

}  // namespace halite::ingest
