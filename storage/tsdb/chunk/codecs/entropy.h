// An order-0 entropy coder for integers. It encodes each number as a bucket, whose frequency sets
// its cost (static rANS, four states), and the bits below the bucket verbatim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/bytes/bytes.h"
#include "storage/tsdb/chunk/codecs/entropy_shape.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

void append_entropy(std::span<const std::uint64_t> numbers, EntropyShape shape,
                    EntropyScratch& scratch, Bytes& out);

// Fills the first `wanted` (at least one) of `numbers`. Marks the reader bad if its bytes do not
// contain that many numbers. If not all are wanted, consumes all bytes of the reader. Replaces the
// first `summed` (at most `wanted`) numbers by their sum, stored in the last of them.
void read_entropy(Reader& from, EntropyScratch& scratch, std::span<std::uint64_t> numbers,
                  std::size_t wanted, std::size_t summed = 0);

// As append_entropy(), in segments of `segment` numbers each (the last may be shorter). Each can be
// read alone.
void append_entropy_segments(std::span<const std::uint64_t> numbers, EntropyShape shape,
                             std::size_t segment, EntropyScratch& scratch, Bytes& out);

// Fills `numbers` from segment number `begin` up to number `end` (exclusive), which is in that
// segment or later; leaves others unchanged. Marks the reader bad if its bytes do not contain that
// many numbers. `summed` as above, for the first segment read.
struct SegmentsWanted {
  std::size_t segment = 0;  // numbers in each
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t summed = 0;
};
void read_entropy_segments(Reader& from, SegmentsWanted wanted, EntropyScratch& scratch,
                           std::span<std::uint64_t> numbers);

}  // namespace halite::storage::chunk
