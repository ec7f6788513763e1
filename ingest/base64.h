// Base64 as Java's DatatypeConverter reads it: what is no letter of it is passed over, and what is
// left over at the end is dropped.
#pragma once

#include <string_view>

#include "common/bytes.h"

namespace halite::ingest {

[[nodiscard]] Bytes decode_base64(std::string_view text);

}  // namespace halite::ingest
