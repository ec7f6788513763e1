#include "query/expression/join.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace halite::query {
namespace {

using Key = std::vector<std::uint64_t>;  // UIDs of tags, then of aggregated keys

// A series without tags matches only others without tags, whatever is aggregated (as in OpenTSDB).
Key key_of(const SeriesMeaning& meaning, const JoinInput& input, const JoinSpec& spec) {
  Key key;
  if (meaning.tags.empty()) return key;
  for (const auto& [key_uid, tag] : meaning.tags) {
    if (spec.use_query_tags && !input.query_tags.contains(tag.key)) continue;
    key.push_back(key_uid);
    key.push_back(tag.value_uid);
  }
  if (!spec.include_agg_tags) return key;
  for (const auto& [key_uid, name] : meaning.aggregate_tags) key.push_back(key_uid);
  return key;
}

std::uint32_t java_hash(std::string_view text) {
  std::uint32_t hash = 0;
  for (const char c : text) hash = hash * 31 + static_cast<std::uint8_t>(c);
  return hash ^ (hash >> 16);
}

// The first input, in the order of OpenTSDB's maps, determines the tags.
std::vector<std::size_t> meaning_order(std::span<const JoinInput> inputs) {
  std::vector<std::string> ids;
  for (const JoinInput& input : inputs) ids.push_back(input.id);
  constexpr std::size_t kDefaultCapacity = 16;
  ids = java_hash_order(std::move(ids), kDefaultCapacity);
  // OpenTSDB copies the map twice, with the number of inputs as capacity.
  for (int copies = 0; copies < 2; ++copies) ids = java_hash_order(std::move(ids), inputs.size());
  std::vector<std::size_t> order;
  for (const std::string& id : ids) {
    const auto found = std::ranges::find(inputs, id, &JoinInput::id);
    order.push_back(static_cast<std::size_t>(found - inputs.begin()));
  }
  return order;
}

SeriesMeaning joined_meaning(std::span<const JoinInput> inputs,
                             const std::vector<std::size_t>& order,
                             const std::vector<std::optional<std::size_t>>& members) {
  SeriesMeaning meaning;
  bool first = true;
  for (const std::size_t input : order) {
    if (members[input]) {
      const SeriesMeaning& member = (*inputs[input].series)[*members[input]].meaning;
      if (first) meaning.tags = member.tags;
      meaning.add(member);
    }
    first = false;
  }
  return meaning;
}

std::string describe(std::span<const JoinInput> inputs, const JoinSpec& spec, std::string_view id) {
  std::string text = fmt::format(
      "IntersectionIterator(id={}, useQueryTags={}, includeAggTags={}, index=0, queries={{", id,
      spec.use_query_tags, spec.include_agg_tags);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    text += fmt::format("{}{}=TimeSyncedIterator(id={}, index={}, dpsSize={})", i == 0 ? "" : ", ",
                        inputs[i].id, inputs[i].id, i, inputs[i].series->size());
  }
  return text + "}";
}

}  // namespace

std::vector<std::string> java_hash_order(std::vector<std::string> keys, std::size_t capacity) {
  std::size_t size = std::bit_ceil(std::max<std::size_t>(1, capacity));
  while (keys.size() * 4 > size * 3) size *= 2;
  std::multimap<std::size_t, std::string> buckets;
  for (std::string& key : keys) {
    const std::size_t bucket = java_hash(key) & (size - 1);
    buckets.emplace(bucket, std::move(key));
  }
  keys.clear();
  for (auto& [bucket, key] : buckets) keys.push_back(std::move(key));
  return keys;
}

Result<Join> join(std::span<const JoinInput> inputs, const JoinSpec& spec, std::string_view id) {
  std::map<Key, std::vector<std::optional<std::size_t>>> rows;
  std::vector<std::vector<Key>> keys(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t s = 0; s < inputs[i].series->size(); ++s) {
      keys[i].push_back(key_of((*inputs[i].series)[s].meaning, inputs[i], spec));
      auto& row = rows[keys[i].back()];
      row.resize(inputs.size());
      row[i] = s;
    }
  }
  const bool any = !rows.empty();
  if (spec.op == JoinOperator::kIntersection) {
    std::erase_if(rows, [](const auto& row) {
      return std::ranges::any_of(row.second, [](const auto& member) { return !member; });
    });
    if (any && rows.empty()) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("No intersections found: {}", describe(inputs, spec, id)));
    }
  }
  Join result;
  for (const auto& of_input : keys) {
    std::vector<bool> dropped;
    for (const Key& key : of_input) dropped.push_back(!rows.contains(key));
    result.dropped.push_back(std::move(dropped));
  }
  const std::vector<std::size_t> order = meaning_order(inputs);
  for (auto& [key, members] : rows) {
    SeriesMeaning meaning = joined_meaning(inputs, order, members);
    result.series.push_back({.meaning = std::move(meaning), .members = std::move(members)});
  }
  return result;
}

}  // namespace halite::query
