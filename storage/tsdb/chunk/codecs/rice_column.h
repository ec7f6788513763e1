// A few dozen integers in few bits (Golomb-Rice codes around a centre): the columns of summaries,
// which are too short for a table of shares.
#pragma once

#include <cstdint>
#include <span>

#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

// Arithmetic is modulo 2^64: any integers come back. None at all take no bits.
void put_rice_column(std::span<const std::uint64_t> numbers, BitWriter& to);

// Fills `numbers`; ask from.ok().
void get_rice_column(BitReader& from, std::span<std::uint64_t> numbers);

}  // namespace halite::storage::chunk
