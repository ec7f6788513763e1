// Integers in blocks of 128: a base a block, what is above it in as many bits as most need, and
// the few that need more patched in ("PFOR"). Quick both ways, and a block adapts to its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/bytes.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

inline constexpr std::size_t kPackedBlock = 128;

void append_packed(std::span<const std::uint64_t> numbers, Bytes& out);

// About how many bytes append_packed() would take.
[[nodiscard]] std::size_t estimate_packed(std::span<const std::uint64_t> numbers);

// Fills `numbers`; makes the reader bad if its bytes are not of that many numbers.
void read_packed(Reader& from, std::span<std::uint64_t> numbers);

// One base and one width for all: smaller and quicker yet where the numbers are evenly spread.
// At least one number.
void append_flat(std::span<const std::uint64_t> numbers, Bytes& out);
[[nodiscard]] std::size_t flat_size(std::span<const std::uint64_t> numbers);
void read_flat(Reader& from, std::span<std::uint64_t> numbers);

}  // namespace halite::storage::chunk
