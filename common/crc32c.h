// CRC-32C (Castagnoli): the checksum of RocksDB's and of our own log records.
#pragma once

#include <cstdint>

#include "common/bytes.h"

namespace halite {

// The CRC of `before` followed by `bytes`, where `crc` is that of `before` (0 for nothing).
[[nodiscard]] std::uint32_t crc32c(BytesView bytes, std::uint32_t crc = 0);

}  // namespace halite
