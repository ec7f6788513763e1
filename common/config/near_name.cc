#include "common/config/near_name.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

namespace halite {
namespace {

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("._"), name.size());
    if (end > 0) words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

// The distance of a name from the requested one: for each word the edit distance to the name's most
// similar word, plus one for each word of the name without a counterpart.
std::size_t word_distance(std::span<const std::string_view> asked,
                          std::vector<std::string_view> words) {
  std::size_t distance = 0;
  for (const std::string_view word : asked) {
    const auto best = std::ranges::min_element(
        words, {}, [word](std::string_view other) { return edit_distance(word, other); });
    const std::size_t letters =
        best == words.end() ? word.size() : std::min(word.size(), edit_distance(word, *best));
    distance += letters;
    if (letters < word.size()) words.erase(best);
  }
  return distance + words.size();
}

// At most a third of the letters differ.
bool is_similar(std::string_view asked, std::string_view other) {
  return edit_distance(asked, other) * 3 <= asked.size();
}

bool is_near(std::string_view asked, std::span<const std::string_view> asked_words,
             std::string_view name) {
  if (is_similar(asked, name)) return true;
  const std::vector<std::string_view> words = words_of(name);
  std::size_t letters = 0;
  std::size_t found = 0;
  for (const std::string_view word : asked_words) {
    letters += word.size();
    const auto similar = [word](std::string_view other) { return is_similar(word, other); };
    if (std::ranges::any_of(words, similar)) found += word.size();
  }
  return found * 2 > letters;
}

}  // namespace

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t change = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row[right.size()];
}

std::string_view nearest_name(std::string_view asked, std::span<const std::string_view> names) {
  const std::vector<std::string_view> words = words_of(asked);
  const auto near = [&](std::string_view name) { return is_near(asked, words, name); };
  const auto distance = [&](std::string_view name) {
    return std::pair(word_distance(words, words_of(name)), edit_distance(asked, name));
  };
  auto candidates = names | std::views::filter(near);
  const auto best = std::ranges::min_element(candidates, {}, distance);
  return best == candidates.end() ? std::string_view() : *best;
}

}  // namespace halite
