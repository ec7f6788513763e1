// How a tool ends that was thrown out of its work.
#pragma once

#include <functional>

#include "app/print.h"

namespace halite::app {

// What the tool returns; 2 where something was thrown, which is said. 1 has a meaning of its own
// for most tools: something is damaged, or differs.
[[nodiscard]] int exit_status(const std::function<int()>& tool, const Print& err);

}  // namespace halite::app
