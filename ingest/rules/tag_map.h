// The tags of one point, in the iteration order of Java's HashMap.
//
// OpenTSDB keeps tags in such a map. Its messages print tags in that order, and its checks follow
// it: "Too many tags: 9 maximum allowed: 8, tags: {k0=v, k1=v, ..}".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halite::ingest {

struct TagEntry {
  std::string key;
  std::optional<std::string> value;  // nullopt: JSON null
};

class TagMap {
 public:
  // Adds a tag, or replaces the value of an existing tag, which keeps its place.
  void put(std::string key, std::optional<std::string> value);

  [[nodiscard]] const TagEntry* find(std::string_view key) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  [[nodiscard]] const std::vector<TagEntry>& arrived() const { return entries_; }
  [[nodiscard]] std::vector<TagEntry> take() && { return std::move(entries_); }
  [[nodiscard]] std::vector<const TagEntry*> in_java_order() const;
  // "{k0=v0, k1=null}"
  [[nodiscard]] std::string to_string() const;

 private:
  [[nodiscard]] std::optional<std::size_t> position(std::string_view key) const;

  std::vector<TagEntry> entries_;  // in order of arrival
  // Used only beyond a few tags; a linear search is faster for few.
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace halite::ingest
