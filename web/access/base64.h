// Base64 of RFC 4648, section 4.
#pragma once

#include <optional>
#include <string_view>

#include "common/bytes.h"

namespace halite::web {

[[nodiscard]] Bytes to_base64(BytesView bytes);  // with "=" at the end
// Nothing: it is none. Padding may be missing.
[[nodiscard]] std::optional<Bytes> from_base64(std::string_view text);

}  // namespace halite::web
