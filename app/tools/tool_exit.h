// The exit status of a tool, also after an exception.
#pragma once

#include <functional>

#include "app/tools/print.h"

namespace halite::app {

// The tool's status, or 2 and a message after an exception. For most tools 1 means: damaged, or
// different.
[[nodiscard]] int exit_status(const std::function<int()>& tool, const Print& err);

}  // namespace halite::app
