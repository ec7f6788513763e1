// Converts request bodies from the charset in their Content-Type to UTF-8. No sockets.
//
// iconv of the C library converts, but only the charsets in a list; other names never reach it.
// UTF-8 bodies, and bodies without a charset, stay unchanged and unchecked: their parser reports
// errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

struct Charset {
  std::string_view name;          // lower case, without '-' and '_'
  const char* library = nullptr;  // iconv's name; nullptr: UTF-8, no conversion
};

// Makes the C library load all its tables, so that no request waits for a disk. Call from any
// thread, any number of times.
void load_charsets();

// The charset in `text/plain; charset="latin1"; x=y`; UTF-8 by default. kUnsupported: an unknown
// charset.
[[nodiscard]] Result<Charset> parse_charset(std::string_view content_type);

// The body in UTF-8. UTF-16 and UTF-32 without a byte order mark are big-endian, as in Java.
// kInvalidArgument: not valid in that charset. kTooLarge: longer than bytes_max, which the named
// setting raises.
[[nodiscard]] Result<std::string> decode_body(std::string_view body, const Charset& charset,
                                              std::size_t bytes_max, std::string_view setting);

}  // namespace halite::web
