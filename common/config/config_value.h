// Conversion between setting values and text: "32 MiB", "10s", "true".
//
// Errors are kInvalidArgument. Their text continues the name of the setting: `wants a size such as
// "32 MiB", not "12x"`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite {

// A whole number with an optional sign.
[[nodiscard]] Result<std::int64_t> parse_count(std::string_view text);

// Bytes: a whole number, then an optional unit in either case: B, KiB, MiB, GiB, TiB (1024) or kB,
// MB, GB, TB (1000).
[[nodiscard]] Result<std::int64_t> parse_bytes(std::string_view text);

// Milliseconds: a whole number, then an optional unit: ms, s, m, h, d, w.
[[nodiscard]] Result<std::int64_t> parse_duration_ms(std::string_view text);

// true, false, yes, no, on, off, 1, 0.
[[nodiscard]] Result<bool> parse_flag(std::string_view text);

// The shortest text that parses to an equal number: "32 MiB", "1500ms", "1d".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
[[nodiscard]] std::string duration_text(std::int64_t ms);

}  // namespace halite
