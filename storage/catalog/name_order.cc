#include "storage/catalog/name_order.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "common/java/java_map.h"

namespace halite::storage {
namespace {

std::uint32_t spread_hash(std::string_view text) {
  const auto hash = static_cast<std::uint32_t>(java_string_hash(text));
  return hash ^ (hash >> 16);
}

// 16 buckets, doubled whenever three quarters are in use.
std::size_t bucket_count(std::size_t entries) {
  std::size_t buckets = 16;
  while (entries > buckets / 4 * 3) buckets *= 2;
  return buckets;
}

}  // namespace

std::vector<std::uint32_t> name_order(const std::vector<Tag>& tags) {
  std::vector<std::uint32_t> order(tags.size());
  std::iota(order.begin(), order.end(), 0u);
  if (order.size() < 2) return order;
  const std::size_t mask = bucket_count(tags.size()) - 1;
  std::ranges::sort(order, {}, [&tags, mask](std::uint32_t index) {
    return std::pair(spread_hash(tags[index].key) & mask, index);
  });
  return order;
}

}  // namespace halite::storage
