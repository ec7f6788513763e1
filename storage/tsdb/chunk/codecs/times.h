// The times of a chunk, between the first and the last, which the header has: nothing at a
// constant step, runs of equal steps, or a column of integers.
#pragma once

#include <cstdint>
#include <span>

#include "common/bytes.h"
#include "common/clock.h"
#include "storage/tsdb/chunk/codecs/int_column.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

enum class TimeCodec : std::uint8_t { kConstantStep, kRuns, kInts };

// times: at least one, ascending, no two equal.
[[nodiscard]] TimeCodec append_times(std::span<const TimestampMs> times, bool small,
                                     IntScratch& scratch, Bytes& out);

// Fills `times`, which are as promised above, from `first` to `last`; else the reader is bad.
void read_times(Reader& from, TimeCodec codec, TimestampMs first, TimestampMs last,
                IntScratch& scratch, std::span<TimestampMs> times);

// The same where only the times in a range are wanted: fills those, and tells which they are.
[[nodiscard]] IndexRange read_times_in(Reader& from, TimeCodec codec, TimestampMs first,
                                       TimestampMs last, TimeRange range, IntScratch& scratch,
                                       std::span<TimestampMs> times);

}  // namespace halite::storage::chunk
