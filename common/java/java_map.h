// The iteration order of Java's HashMap. OpenTSDB's answers and stored cells depend on it in
// places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halite {

inline constexpr std::uint32_t kJavaMapCapacity = 16;  // of `new HashMap()`

// String.hashCode of a UTF-8 text.
[[nodiscard]] std::int32_t java_string_hash(std::string_view text);

// Returns distinct keys in iteration order. Pass them in insertion order, with the capacity that
// the map was constructed with, at least 1.
[[nodiscard]] std::vector<std::string> java_map_order(const std::vector<std::string>& keys,
                                                      std::uint32_t capacity);

}  // namespace halite
