#include "query/parse/text.h"

#include <algorithm>
#include <array>

namespace halite::query {
namespace {

// For each character that opens a pair, the position of its partner; 0 for all others. Takes linear
// time: a closing character drops what was opened inside it and not closed, and is handled only if
// one of its kind is open.
std::vector<std::size_t> find_pairs(std::string_view text) {
  constexpr std::string_view kOpening = "{(";
  constexpr std::string_view kClosing = "})";
  std::vector<std::size_t> close_of(text.size());
  std::vector<std::size_t> opened;
  std::array<std::size_t, 2> count{};  // of each kind in `opened`
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (const auto kind = kOpening.find(text[i]); kind != std::string_view::npos) {
      opened.push_back(i);
      ++count.at(kind);
    } else if (const auto closed = kClosing.find(text[i]); closed != std::string_view::npos) {
      while (count.at(closed) > 0) {
        const std::size_t begin = opened.back();
        opened.pop_back();
        const std::size_t of = kOpening.find(text[begin]);
        --count.at(of);
        if (of != closed) continue;
        close_of[begin] = i;
        break;
      }
    }
  }
  return close_of;
}

}  // namespace

std::vector<std::string_view> split_all(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  const std::vector<std::size_t> close_of = find_pairs(text);
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    i = std::max(i, close_of[i]);
    if (text[i] != separator) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::size_t find_close(std::string_view text, std::size_t open) {
  const std::size_t close = find_pairs(text)[open];
  return close == 0 ? std::string_view::npos : close;
}

std::vector<std::string_view> split_trimmed(std::string_view text, char separator) {
  std::vector<std::string_view> parts = split_all(text, separator);
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

}  // namespace halite::query
