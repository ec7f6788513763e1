// The order in which Java's HashMap hands out its keys. OpenTSDB's answers and stored cells show it
// in places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halite {

inline constexpr std::uint32_t kJavaMapCapacity = 16;  // of `new HashMap()`

// String.hashCode of a text in UTF-8.
[[nodiscard]] std::int32_t java_string_hash(std::string_view text);

// Keys, each once, in the order they were put in; capacity as it was constructed with, at least 1.
[[nodiscard]] std::vector<std::string> java_map_order(const std::vector<std::string>& keys,
                                                      std::uint32_t capacity);

}  // namespace halite
