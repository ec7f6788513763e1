// About 32 points of one series as the head keeps them in memory: few bytes, quick both ways. Not
// a format for disks: no CRC, no version, and its bytes are trusted.
//
// Blocks stand one behind the other in one byte string and decode in that order.
#pragma once

#include <cstddef>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/chunk/points.h"

namespace halite::storage::chunk {

inline constexpr std::size_t kHeadBlockPointsMax = 128;

// Appends a block of 1 to kHeadBlockPointsMax points, by time, no time twice.
void append_head_block(PointsView points, Bytes& out);

// Appends the points of the block at the front of `blocks` to `out` and cuts it off. kCorruption
// if it is no block; reads nothing past the end whatever the bytes are.
Result<void> decode_head_block(BytesView& blocks, Points& out);

}  // namespace halite::storage::chunk
