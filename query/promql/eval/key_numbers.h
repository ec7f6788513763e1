// Numbers texts 0, 1, ... in the order in which they first come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

namespace halite::query::promql {

class KeyNumbers {
 public:
  [[nodiscard]] std::uint32_t number(std::string_view key) {
    if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    numbers_.emplace(keep(key), next);
    return next;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::string_view keep(std::string_view key) {
    if (key.empty()) return {};
    char* copy = static_cast<char*>(bytes_.allocate(key.size(), 1));
    std::memcpy(copy, key.data(), key.size());
    return {copy, key.size()};
  }

  std::pmr::monotonic_buffer_resource bytes_;
  boost::unordered_flat_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace halite::query::promql
