// Reads the bytes of a segment's file that may contain records.
//
// Limits memory use for files that something other than the log extended: if a file is longer than
// usual, zeros at its end are not read into memory.
//
//   Threads  one at a time on a file; blocks.
#pragma once

#include <cstdint>
#include <string>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::log_format {

// Replaces `bytes` by those from the first one on. Ignores everything beyond kSegmentBytesMax. Much
// cheaper if `bytes` had another segment before: its memory is used again.
[[nodiscard]] Result<void> read_segment(FileSystem& files, const std::string& path, Bytes& bytes);

// What is wrong with a segment's file of this size; empty if nothing.
[[nodiscard]] std::string oversize_text(std::uint64_t bytes);

}  // namespace halite::storage::log_format
