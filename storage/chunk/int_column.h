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
#include "storage/chunk/entropy.h"
#include "storage/chunk/wire.h"

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

// Fills `numbers`; makes the reader bad if its bytes are not of that many numbers.
void read_ints(Reader& from, IntScratch& scratch, std::span<std::uint64_t> numbers);

}  // namespace halite::storage::chunk
