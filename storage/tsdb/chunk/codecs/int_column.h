// A column of 64-bit integers, exact whatever they are: what times and all kinds of values come
// down to. Chooses by trying: which differences to take, and which coder to give them to.
//
// All arithmetic is modulo 2^64, so no difference overflows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "storage/tsdb/chunk/codecs/entropy.h"
#include "storage/tsdb/chunk/codecs/wire.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace halite::storage::chunk {

struct ZstdFree {
  void operator()(ZSTD_CCtx_s* context) const;
  void operator()(ZSTD_DCtx_s* context) const;
};

struct IntScratch {
  EntropyScratch entropy;
  std::vector<std::uint64_t> distances;
  std::vector<std::uint64_t> sample;
  std::vector<std::uint64_t> differences;  // of the sample
  Bytes frame;
  bool segmented = false;  // set where a column was written that only version 2 of chunks has
  std::unique_ptr<ZSTD_CCtx_s, ZstdFree> compressor;
  std::unique_ptr<ZSTD_DCtx_s, ZstdFree> decompressor;
};

// Integers that change by any of these alone cost next to nothing: value, step, step of steps.
// small: also try what is slower and smaller (entropy coder, zstd). At least one number.
void append_ints(std::span<const std::uint64_t> numbers, bool small, IntScratch& scratch,
                 Bytes& out);

// About how many bytes append_ints() would take.
[[nodiscard]] std::size_t estimate_ints(std::span<const std::uint64_t> numbers, bool small,
                                        IntScratch& scratch);

// Which numbers of a column are wanted.
struct IndexRange {
  std::size_t begin = 0;
  std::size_t end = SIZE_MAX;  // excluded; all the rest, where there are not so many
};

// Fills those of `numbers`, and perhaps others; makes the reader bad if its bytes are not of that
// many numbers. Long columns of sealed data have segments, of which it decodes those that it must.
void read_ints(Reader& from, IntScratch& scratch, std::span<std::uint64_t> numbers,
               IndexRange part = {});

}  // namespace halite::storage::chunk
