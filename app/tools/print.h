// The output of a tool: one call for each line, without its end.
#pragma once

#include <functional>
#include <string_view>

namespace halite::app {

using Print = std::function<void(std::string_view line)>;

}  // namespace halite::app
