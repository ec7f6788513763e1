// The tags of an output series as text, by key. They share one allocation, because an answer with
// many groups consists mostly of tags.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halite::query {

class TagTexts {
 public:
  using KeyValue = std::pair<std::string, std::string>;  // key, value
  using Iterator = std::vector<KeyValue>::const_iterator;

  TagTexts() = default;
  TagTexts(std::initializer_list<KeyValue> entries) {
    for (const auto& [key, value] : entries) emplace(key, value);
  }

  void reserve(std::size_t size) { entries_.reserve(size); }
  void clear() { entries_.clear(); }

  // Does nothing if the key exists. Fastest in the order of keys.
  void emplace(std::string_view key, std::string_view value) {
    Iterator place = entries_.end();
    if (!entries_.empty() && key <= entries_.back().first) {
      place = lower_bound(key);
      if (place->first == key) return;
    }
    entries_.emplace(place, key, value);
  }

  // Returns end() if the key does not exist.
  [[nodiscard]] Iterator find(std::string_view key) const {
    const Iterator place = lower_bound(key);
    return place != end() && place->first == key ? place : end();
  }

  [[nodiscard]] Iterator begin() const { return entries_.begin(); }
  [[nodiscard]] Iterator end() const { return entries_.end(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  [[nodiscard]] Iterator lower_bound(std::string_view key) const {
    return std::ranges::lower_bound(
        entries_, key, {}, [](const KeyValue& entry) { return std::string_view(entry.first); });
  }

  std::vector<KeyValue> entries_;
};

}  // namespace halite::query
