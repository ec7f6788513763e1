// Base64 of RFC 4648, section 4.
#pragma once

#include <optional>
#include <string_view>

#include "common/bytes/bytes.h"

namespace halite {

[[nodiscard]] Bytes to_base64(BytesView bytes);  // padded with "="
// Returns nullopt if the text is not base64. Padding is optional.
[[nodiscard]] std::optional<Bytes> from_base64(std::string_view text);
// Decodes like Java's DatatypeConverter: skips characters outside the alphabet and drops an
// incomplete group of four at the end.
[[nodiscard]] Bytes from_lenient_base64(std::string_view text);

}  // namespace halite
