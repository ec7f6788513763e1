// Integers by an order-0 entropy coder: each number becomes a bucket, whose share of the run sets
// its cost (static rANS, four states), and the bits below the bucket as they are.
//
// Buckets are exact for small magnitudes and as wide as 2^-m of the magnitude above, so that one
// table of some tens of entries fits steps of a walk as well as the top bits of full doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "storage/chunk/wire.h"

namespace halite::storage::chunk {

// How numbers turn into magnitudes.
struct EntropyShape {
  bool zigzag = false;       // magnitude = zigzag(number - centre), else number - centre
  std::uint64_t centre = 0;  // modulo 2^64: no number is lost whatever it is
  unsigned mantissa = 0;     // m: buckets of a power of two: 2^m; 0 to 4
  double bits = 0;           // estimated, a number; without the table
  double table_bits = 0;     // estimated, once
};

// Memory that one run after the other may use.
struct EntropyScratch {
  std::vector<std::uint64_t> sorted;
  std::vector<std::uint32_t> histogram;
  std::vector<std::uint8_t> symbols;
  std::vector<std::uint16_t> words;
};

// The shape that a sample (not empty) of the numbers asks for; scale: all numbers for one of it.
[[nodiscard]] EntropyShape choose_shape(std::span<const std::uint64_t> sample, double scale,
                                        EntropyScratch& scratch);

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
