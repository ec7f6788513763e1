// Texts for one line of a terminal or a file.
#pragma once

#include <string>
#include <string_view>

namespace halite::app {

// Control characters become blanks.
[[nodiscard]] std::string one_line(std::string_view text);

// Also UTF-8: other bytes become U+FFFD.
[[nodiscard]] std::string shown_line(std::string_view text);

}  // namespace halite::app
