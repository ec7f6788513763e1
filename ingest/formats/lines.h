// Lines of a text, without their line feeds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace halite::ingest {

// Takes the first line off the text.
[[nodiscard]] inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The text without a byte order mark, which some programs write first.
[[nodiscard]] inline std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

// The line with that number, counted from 1; empty if there is none.
[[nodiscard]] inline std::string_view line_of(std::string_view text, std::uint32_t number) {
  std::string_view line;
  for (std::uint32_t at = 0; at < number; ++at) {
    if (text.empty()) return {};
    line = take_line(text);
  }
  return line;
}

}  // namespace halite::ingest
