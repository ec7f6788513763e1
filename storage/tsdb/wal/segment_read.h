// The bytes of a segment's file that may hold records.
//
// A file that something else than the log made long is not taken into memory for that: of one that
// is longer than most, zeros at its end stay out.
//
//   Threads  one at a time on a file; blocks.
#pragma once

#include <cstdint>
#include <string>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::log_format {

// From its first byte. What is behind kSegmentBytesMax is not looked at.
[[nodiscard]] Result<Bytes> read_segment(FileSystem& files, const std::string& path);

// What is wrong with a segment's file of that size; empty where nothing is.
[[nodiscard]] std::string oversize_text(std::uint64_t bytes);

}  // namespace halite::storage::log_format
