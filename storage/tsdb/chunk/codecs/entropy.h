// Integers by an order-0 entropy coder: each number becomes a bucket, whose share of the run sets
// its cost (static rANS, four states), and the bits below the bucket as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/bytes.h"
#include "storage/tsdb/chunk/codecs/entropy_shape.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

void append_entropy(std::span<const std::uint64_t> numbers, EntropyShape shape,
                    EntropyScratch& scratch, Bytes& out);

// Fills the first `wanted` (at least one) of `numbers`; makes the reader bad if its bytes are not
// of as many numbers. Where not all are wanted, it takes all that the reader has. Of the first
// `summed` (at most `wanted`) only the sum is wanted, in place of the last of them.
void read_entropy(Reader& from, EntropyScratch& scratch, std::span<std::uint64_t> numbers,
                  std::size_t wanted, std::size_t summed = 0);

// The same in segments of so many numbers each (the last may have fewer), any of which can be read
// alone.
void append_entropy_segments(std::span<const std::uint64_t> numbers, EntropyShape shape,
                             std::size_t segment, EntropyScratch& scratch, Bytes& out);

// Fills `numbers` from the segment `begin`, counted in segments, to before the number `end`, which
// lies in it or behind; leaves others as they are. Makes the reader bad if its bytes are not of
// that many numbers. `summed` as above, of the first segment read.
struct SegmentsWanted {
  std::size_t segment = 0;  // numbers in each
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t summed = 0;
};
void read_entropy_segments(Reader& from, SegmentsWanted wanted, EntropyScratch& scratch,
                           std::span<std::uint64_t> numbers);

}  // namespace halite::storage::chunk
