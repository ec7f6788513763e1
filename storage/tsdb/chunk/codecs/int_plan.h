// How a column of integers should be coded: told from a sample of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "storage/tsdb/chunk/codecs/entropy.h"
#include "storage/tsdb/chunk/codecs/int_column.h"

namespace halite::storage::chunk {

// Which differences are taken.
enum class Transform : std::uint8_t { kNone, kDelta, kDelta2 };
enum class Coder : std::uint8_t { kConstant, kPacked, kFlat, kEntropy, kZstd, kSegments };

struct Plan {
  Transform transform = Transform::kNone;
  Coder coder = Coder::kPacked;
  EntropyShape shape;
  bool repeats = false;  // whole runs of numbers come again: zstd may find them
  double bytes = 0;      // estimated, for all
};

constexpr std::size_t kEntropyMin = 96;  // numbers; a table does not pay for fewer

// Of a whole column's distances. small: also by what is slower and smaller.
[[nodiscard]] Plan make_plan(std::span<const std::uint64_t> numbers, bool small,
                             IntScratch& scratch);

[[nodiscard]] inline std::size_t order_of(Transform transform) {
  return static_cast<std::size_t>(transform);
}

// In place: numbers[i] to its difference from the one before, the last first.
void differ(std::span<std::uint64_t> numbers);

[[nodiscard]] bool all_equal(std::span<const std::uint64_t> numbers);

}  // namespace halite::storage::chunk
