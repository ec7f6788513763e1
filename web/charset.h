// Bodies of requests in the charset that their Content-Type names, made UTF-8. No sockets.
//
// The C library does the work (iconv), for charsets of a list only. No other charset name reaches
// iconv. UTF-8, and a body whose charset nobody named, stay as they are, unlooked at: who parses it
// says what is wrong with it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

struct Charset {
  std::string_view name;          // without '-' and '_', in lower case
  const char* library = nullptr;  // iconv's name of it; nullptr: UTF-8, nothing is to be done
};

// Has the C library read what it needs for all of them, so that no request waits for a disk. Any
// thread, any number of times.
void load_charsets();

// What `text/plain; charset="latin1"; x=y` says; UTF-8 where it says nothing.
// kUnsupported: a charset that is not known here.
[[nodiscard]] Result<Charset> parse_charset(std::string_view content_type);

// The body in UTF-8. UTF-16 and UTF-32 without a byte order mark are big-endian, as to Java.
// kInvalidArgument: not a text in that charset. kTooLarge: it would be longer than bytes_max, which
// the setting of that name says.
[[nodiscard]] Result<std::string> decode_body(std::string_view body, const Charset& charset,
                                              std::size_t bytes_max, std::string_view setting);

}  // namespace halite::web
