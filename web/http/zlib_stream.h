// How zlib and ISA-L are asked for a frame, and how much they take at once.
#pragma once

#include <cstddef>

namespace halite::web {

inline constexpr int kZlibFrame = 15;       // a window of 32 KiB
inline constexpr int kGzipFrame = 15 + 16;  // selects gzip in zlib
// The largest piece of input: zlib and ISA-L count in 32 bits.
inline constexpr std::size_t kInputStepBytes = 1 << 30;

}  // namespace halite::web
