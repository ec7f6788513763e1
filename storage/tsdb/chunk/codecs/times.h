// The times of a chunk between the first and the last, which are in the header: nothing for a
// constant step, runs of equal steps, or a column of integers.
#pragma once

#include <cstdint>
#include <span>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "storage/tsdb/chunk/codecs/int_column.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

enum class TimeCodec : std::uint8_t { kConstantStep, kRuns, kInts };

// times: at least one, strictly ascending.
[[nodiscard]] TimeCodec append_times(std::span<const TimestampMs> times, bool small,
                                     IntScratch& scratch, Bytes& out);

// Fills `times`, strictly ascending from `first` to `last`; otherwise the reader is bad.
void read_times(Reader& from, TimeCodec codec, TimestampMs first, TimestampMs last,
                IntScratch& scratch, std::span<TimestampMs> times);

// Fills only the times in a range, and returns which they are.
[[nodiscard]] IndexRange read_times_in(Reader& from, TimeCodec codec, TimestampMs first,
                                       TimestampMs last, TimeRange range, IntScratch& scratch,
                                       std::span<TimestampMs> times);

}  // namespace halite::storage::chunk
