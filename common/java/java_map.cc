#include "common/java/java_map.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/bytes/utf8.h"

namespace halite {

std::int32_t java_string_hash(std::string_view text) {
  std::uint32_t hash = 0;
  each_utf16_unit(text, [&hash](char16_t unit) { hash = 31 * hash + unit; });
  return static_cast<std::int32_t>(hash);
}

std::vector<std::string> java_map_order(const std::vector<std::string>& keys,
                                        std::uint32_t capacity) {
  // The table doubles above a load of three quarters. Splitting a bucket keeps its order, so only
  // the final size matters.
  std::uint32_t size = std::bit_ceil(std::max(1u, capacity));
  while (keys.size() > std::size_t{size} * 3 / 4) size *= 2;
  std::vector<std::pair<std::uint32_t, std::size_t>> places;  // bucket, index in `keys`
  for (const std::string& key : keys) {
    const auto hash = static_cast<std::uint32_t>(java_string_hash(key));
    places.emplace_back((hash ^ (hash >> 16)) & (size - 1), places.size());
  }
  std::ranges::sort(places);
  std::vector<std::string> order;
  order.reserve(keys.size());
  for (const auto& [bucket, at] : places) order.push_back(keys[at]);
  return order;
}

}  // namespace halite
