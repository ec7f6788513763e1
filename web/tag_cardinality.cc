#include "web/tag_cardinality.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "common/bytes/ascii.h"
#include "web/http/http_message.h"

namespace halite::web {

void TagCardinality::add(const storage::Series& series) {
  ++series_;
  for (const storage::SeriesTag& tag : series.tags) {
    Count& count = tags_[{tag.key_uid, tag.value_uid}];
    count.key = tag.key;
    count.value = tag.value;
    ++count.series;
  }
}

std::vector<TagCardinality::Key> TagCardinality::keys() const {
  std::map<std::string_view, Key> by_name;
  for (const auto& [uids, count] : tags_) {
    Key& key = by_name[count.key];
    key.name = count.key;
    key.series += count.series;
    key.values.push_back({.name = count.value, .series = count.series});
  }
  std::vector<Key> keys;
  for (auto& [name, key] : by_name) {
    std::ranges::sort(key.values, [](const Value& a, const Value& b) {
      return std::tie(b.series, a.name) < std::tie(a.series, b.name);
    });
    keys.push_back(std::move(key));
  }
  return keys;
}

bool contains_text(std::string_view name, std::string_view lower_text) {
  const auto same = [](char in_name, char in_text) { return to_lower(in_name) == in_text; };
  return !std::ranges::search(name, lower_text, same).empty() || lower_text.empty();
}

}  // namespace halite::web
