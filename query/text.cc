#include "query/text.h"

#include <algorithm>

namespace halite::query {

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

std::vector<std::string_view> split_all(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string_view> split_trimmed(std::string_view text, char separator) {
  std::vector<std::string_view> parts = split_all(text, separator);
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

}  // namespace halite::query
