// What hashing a password costs in tests: little.
#pragma once

#include "web/access/secret.h"

namespace halite::web {

inline constexpr ScryptCost kCheap{.log2_n = 4, .r = 8, .p = 1};

}  // namespace halite::web
