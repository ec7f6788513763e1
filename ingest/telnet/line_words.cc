#include "ingest/telnet/line_words.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace halite::ingest {

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<std::string_view> take_word(std::string_view& rest) {
  const void* blank = std::memchr(rest.data(), ' ', rest.size());
  if (blank == nullptr) return std::nullopt;
  const auto length = static_cast<std::size_t>(static_cast<const char*>(blank) - rest.data());
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length + 1);
  return word;
}

std::vector<std::string_view> split_line(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t blank = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, blank - at));
    at = blank + 1;
  }
  return words;
}

std::expected<void, Refused> add_tag(TagMap& tags, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size() ||
      word.find('=', equals + 1) != std::string_view::npos) {
    return illegal(fmt::format("invalid tag: {}", word));
  }
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  const TagEntry* known = tags.find(key);
  if (known == nullptr) {
    tags.put(std::string(key), std::string(value));
  } else if (*known->value != value) {
    return illegal(fmt::format("duplicate tag: {}, tags={}", word, tags.to_string()));
  }
  return {};
}

NumberOr<std::int64_t> parse_line_timestamp(std::string_view word) {
  std::string digits(word);
  std::erase(digits, '.');
  return parse_java_long(digits);
}

}  // namespace halite::ingest
