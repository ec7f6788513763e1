// The format of tables.
#pragma once

#include <cstdint>

namespace halite::storage::rocks {

// Of all tables that Halite writes. RocksDB 7.8 reads it; 9.10 would write a later one by default.
inline constexpr std::uint32_t kTableFormatVersion = 5;

}  // namespace halite::storage::rocks
