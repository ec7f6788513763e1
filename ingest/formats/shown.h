// Pieces of input in messages. For ingest/formats and the rooms of other protocols.
#pragma once

#include <string>
#include <string_view>

namespace halite::ingest {

// In quotes, at most 64 bytes, with control characters as \x0A.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace halite::ingest
