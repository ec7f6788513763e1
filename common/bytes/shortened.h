// What other programs say, in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halite {

inline constexpr std::size_t kSaidBytesMax = 500;

// UTF-8 on one line: control characters become spaces. What is longer than kSaidBytesMax is cut and
// ends with "...".
[[nodiscard]] std::string shortened(std::string_view said);

}  // namespace halite
