// Integers in blocks of 128 ("PFOR"): each block has a base, offsets in as many bits as most
// numbers need, and exceptions for the few larger ones. Fast both ways; each block adapts to its
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/bytes/bytes.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

inline constexpr std::size_t kPackedBlock = 128;

void append_packed(std::span<const std::uint64_t> numbers, Bytes& out);

// Approximate size of the output of append_packed().
[[nodiscard]] std::size_t estimate_packed(std::span<const std::uint64_t> numbers);

// Fills `numbers`. Marks the reader bad if its bytes do not contain that many numbers.
void read_packed(Reader& from, std::span<std::uint64_t> numbers);

// One base and one width for all numbers (at least one): smaller and faster if they are evenly
// distributed.
void append_flat(std::span<const std::uint64_t> numbers, Bytes& out);
[[nodiscard]] std::size_t flat_size(std::span<const std::uint64_t> numbers);
void read_flat(Reader& from, std::span<std::uint64_t> numbers);

}  // namespace halite::storage::chunk
