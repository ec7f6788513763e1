// A column of arbitrary 64-bit integers: the basis for times and all kinds of values. Chooses the
// differences and the coder by estimation.
//
// All arithmetic is modulo 2^64, so no difference overflows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
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
  std::array<std::vector<std::uint64_t>, 3> residuals;  // of the sample, by transform
  Bytes frame;
  bool segmented = false;  // set if a written column requires version 2 of chunks
  std::unique_ptr<ZSTD_CCtx_s, ZstdFree> compressor;
  std::unique_ptr<ZSTD_DCtx_s, ZstdFree> decompressor;
};

// Appends at least one number. Columns where the value, the step or the change of the step is
// constant take almost no space. small: also try the smaller but slower coders (entropy coder,
// zstd).
void append_ints(std::span<const std::uint64_t> numbers, bool small, IntScratch& scratch,
                 Bytes& out);

// Approximate size of the output of append_ints().
[[nodiscard]] std::size_t estimate_ints(std::span<const std::uint64_t> numbers, bool small,
                                        IntScratch& scratch);

// The wanted numbers of a column.
struct IndexRange {
  std::size_t begin = 0;
  std::size_t end = SIZE_MAX;  // exclusive; limited to the length of the column
};

// Fills the wanted numbers, and possibly others. Marks the reader bad if its bytes do not contain
// that many numbers. Of a long column of sealed data, decodes only the necessary segments.
void read_ints(Reader& from, IntScratch& scratch, std::span<std::uint64_t> numbers,
               IndexRange part = {});

}  // namespace halite::storage::chunk
