#include "common/check.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace halite {

void check_failed(const char* condition, std::string_view why, const char* file, int line) {
  fmt::print(stderr, "broken promise at {}:{}: {} ({})\n", file, line, condition, why);
  std::abort();
}

}  // namespace halite
