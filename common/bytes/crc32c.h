// CRC-32C (Castagnoli): the checksum of RocksDB and of the write-ahead log.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/bytes/bytes.h"

namespace halite {

inline constexpr std::size_t kCrc32cBytes = 4;

// The CRC of earlier bytes followed by `bytes`. `crc` is the CRC of the earlier bytes, 0 for none.
[[nodiscard]] std::uint32_t crc32c(BytesView bytes, std::uint32_t crc = 0);

}  // namespace halite
