#include "common/boost_assertions.h"

#include <fmt/format.h>

// Boost declares these; the application defines them.
namespace boost {

// NOLINTBEGIN(google-runtime-int): Boost's types

void assertion_failed(const char* expr, const char* function, const char* file, long line) {
  throw halite::AssertionFailed(fmt::format("{} at {}:{}, {}", expr, file, line, function));
}

void assertion_failed_msg(const char* expr, const char* msg, const char* function, const char* file,
                          long line) {
  throw halite::AssertionFailed(
      fmt::format("{} ({}) at {}:{}, {}", expr, msg, file, line, function));
}
// NOLINTEND(google-runtime-int)

}  // namespace boost
