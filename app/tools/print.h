// The output of a tool: one call for each line, without its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace halite::app {

using Print = std::function<void(std::string_view line)>;

// "1 line", "2 lines".
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace halite::app
