// The tags of one point, in the order in which Java's HashMap would hold them.
//
// OpenTSDB keeps tags in such a map, so its messages print them, and its checks meet them, in that
// order: "Too many tags: 9 maximum allowed: 8, tags: {k0=v, k1=v, ..}".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halite::ingest {

struct TagEntry {
  std::string key;
  std::optional<std::string> value;  // nothing: JSON said null
};

class TagMap {
 public:
  // Adds a tag, or replaces the value of one that is there (it keeps its place).
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

  std::vector<TagEntry> entries_;  // as they came
  // Only beyond a few tags: few are found faster without.
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace halite::ingest
