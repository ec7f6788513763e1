#include "ingest/rules/tag_map.h"

#include <algorithm>
#include <cstdint>

#include "common/java/java_map.h"

namespace halite::ingest {
namespace {

constexpr std::size_t kIndexFrom = 16;

// The constants of java.util.HashMap.
constexpr std::size_t kTableInitial = 16;
constexpr std::size_t kTreeTableMin = 64;
constexpr std::size_t kChainMax = 8;

// The size of the table: it doubles when it is three quarters full and, while it is small, when a
// chain grows past eight.
std::size_t table_size(const std::vector<std::uint32_t>& hashes) {
  std::size_t table = kTableInitial;
  std::vector<std::size_t> chains(table, 0);
  const auto resize = [&](std::size_t count) {
    table *= 2;
    chains.assign(table, 0);
    for (std::size_t i = 0; i < count; ++i) ++chains[hashes[i] & (table - 1)];
  };
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::size_t chain = ++chains[hashes[i] & (table - 1)];
    if (chain > kChainMax && table < kTreeTableMin) resize(i + 1);
    if (i + 1 > table / 4 * 3) resize(i + 1);
  }
  return table;
}

}  // namespace

std::optional<std::size_t> TagMap::position(std::string_view key) const {
  if (entries_.size() < kIndexFrom) {
    const auto found = std::ranges::find(entries_, key, &TagEntry::key);
    if (found == entries_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - entries_.begin());
  }
  const auto found = index_.find(std::string(key));
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

void TagMap::put(std::string key, std::optional<std::string> value) {
  if (const auto at = position(key)) {
    entries_[*at].value = std::move(value);
    return;
  }
  if (entries_.empty()) entries_.reserve(8);  // most points have fewer
  entries_.push_back({.key = std::move(key), .value = std::move(value)});
  if (entries_.size() == kIndexFrom) {
    for (std::size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i].key, i);
  } else if (entries_.size() > kIndexFrom) {
    index_.emplace(entries_.back().key, entries_.size() - 1);
  }
}

const TagEntry* TagMap::find(std::string_view key) const {
  const auto at = position(key);
  return at ? &entries_[*at] : nullptr;
}

std::vector<const TagEntry*> TagMap::in_java_order() const {
  std::vector<std::uint32_t> hashes;
  hashes.reserve(entries_.size());
  for (const TagEntry& entry : entries_) {
    const std::uint32_t hash = static_cast<std::uint32_t>(java_string_hash(entry.key));
    hashes.push_back(hash ^ (hash >> 16));
  }
  const std::size_t mask = table_size(hashes) - 1;
  std::vector<std::size_t> order(entries_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // A chain keeps the order of arrival, even when the table doubles.
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(hashes[i] & mask, i); });
  std::vector<const TagEntry*> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(&entries_[i]);
  return sorted;
}

std::string TagMap::to_string() const {
  std::string text = "{";
  for (const TagEntry* entry : in_java_order()) {
    if (text.size() > 1) text += ", ";
    text += entry->key;
    text += '=';
    text += entry->value ? *entry->value : "null";
  }
  text += '}';
  return text;
}

}  // namespace halite::ingest
