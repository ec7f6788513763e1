// Chooses the encoding of a column of integers from a sample of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "storage/tsdb/chunk/codecs/entropy.h"
#include "storage/tsdb/chunk/codecs/int_column.h"

namespace halite::storage::chunk {

// The differences to encode.
enum class Transform : std::uint8_t { kNone, kDelta, kDelta2 };
enum class Coder : std::uint8_t { kConstant, kPacked, kFlat, kEntropy, kZstd, kSegments };

struct Plan {
  Transform transform = Transform::kNone;
  Coder coder = Coder::kPacked;
  EntropyShape shape;
  bool repeats = false;  // runs of numbers repeat, which zstd may exploit
  double bytes = 0;      // estimate for all numbers
  bool packs = true;     // packed numbers may be about as small as those of the entropy coder
};

constexpr std::size_t kEntropyMin = 96;  // numbers; a table does not pay for fewer

// Which transforms make_plan() estimates: for the smaller coders only those that a thinner sample
// does not rule out, or all. Estimates differ by about 1 %.
enum class Search : std::uint8_t { kLikely, kAll };

// The plan for the distances of a whole column. small: also consider the smaller but slower coders.
[[nodiscard]] Plan make_plan(std::span<const std::uint64_t> numbers, bool small,
                             IntScratch& scratch, Search search = Search::kLikely);

[[nodiscard]] inline std::size_t order_of(Transform transform) {
  return static_cast<std::size_t>(transform);
}

// Replaces each number by its difference from the previous one, in place.
void differ(std::span<std::uint64_t> numbers);

[[nodiscard]] bool all_equal(std::span<const std::uint64_t> numbers);

}  // namespace halite::storage::chunk
