// The values of a chunk and their types. All values become one column of integers; values that
// cannot be represented that way are stored separately.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "storage/tsdb/chunk/codecs/int_column.h"
#include "storage/tsdb/chunk/codecs/points.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

// Which points are doubles.
enum class TypeCodec : std::uint8_t {
  kIntegers,       // none
  kDoubles,        // all
  kRuns,           // lengths of runs of integers, doubles, integers, ...
  kWholeIntegers,  // values with a fraction, as shortest printing produces them
};

// What the integers of the column represent.
enum class ValueCodec : std::uint8_t { kIntegers, kDecimals, kFullDoubles, kSingles };

struct ValueCodecs {
  TypeCodec types = TypeCodec::kIntegers;
  ValueCodec values = ValueCodec::kIntegers;
};

struct ValueScratch {
  IntScratch ints;
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint32_t> exceptions;  // positions
};

[[nodiscard]] ValueCodecs append_values(PointsView points, bool small, ValueScratch& scratch,
                                        Bytes& out);

// Fills `values` and appends to `floats`. The reader is bad if its bytes are not such values.
// Values and bits outside the part are arbitrary.
void read_values(Reader& from, ValueCodecs codecs, ValueScratch& scratch,
                 std::span<ValueBits> values, FloatBits& floats, IndexRange part = {});

}  // namespace halite::storage::chunk
