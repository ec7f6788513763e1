// A few dozen integers as Golomb-Rice codes around a centre: for the columns of summaries, which
// are too short for a table of shares.
#pragma once

#include <cstdint>
#include <span>

#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

// Arithmetic is modulo 2^64, so any integers are possible. An empty column takes no bits.
void put_rice_column(std::span<const std::uint64_t> numbers, BitWriter& to);

// Fills `numbers`; check from.ok() afterwards.
void get_rice_column(BitReader& from, std::span<std::uint64_t> numbers);

}  // namespace halite::storage::chunk
