// Percent-encoding of URLs (RFC 3986).
#pragma once

#include <string>
#include <string_view>

namespace halite {

// Encodes all bytes but letters, digits, "-._~" and those in `also`.
[[nodiscard]] std::string percent_encoded(std::string_view text, std::string_view also = {});

}  // namespace halite
