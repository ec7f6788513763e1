// Texts of other programs, for log lines and errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halite {

inline constexpr std::size_t kSaidBytesMax = 500;

// The text as UTF-8 on one line. Control characters become spaces. A text of more than
// kSaidBytesMax bytes is cut and ends with "...".
[[nodiscard]] std::string shortened(std::string_view said);

}  // namespace halite
