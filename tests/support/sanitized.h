// What a test does less of where a sanitizer makes it many times slower.
#pragma once

#include <cstddef>

namespace halite::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HALITE_SANITIZED
#endif
#endif
#if defined(HALITE_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How far a test steps through cases of one kind, each of which says much the same to a sanitizer.
[[nodiscard]] constexpr std::size_t step(std::size_t usual, std::size_t sanitized) {
  return kSanitized ? sanitized : usual;
}

}  // namespace halite::test
