// Texts and integers of pickles. Private to ingest/graphite.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/graphite/pickle_machine.h"

namespace halite::ingest {

// Python's raw-unicode-escape: ISO-8859-1 and \uXXXX. Another backslash stands for itself. Appends
// at most two bytes for one. False: a wrong escape.
[[nodiscard]] bool append_raw_unicode(std::string& to, std::string_view text);

// What Python 2 writes for a str, without its quotes. Appends at most one byte for one.
[[nodiscard]] bool append_python_string(std::string& to, std::string_view text);

// A decimal integer of any length; beyond 64 bits the nearest double. Nothing: another text.
[[nodiscard]] std::optional<PickleItem> integer_of(std::string_view text);

// Little-endian, two's complement; beyond 64 bits the nearest double.
[[nodiscard]] PickleItem integer_of_bytes(std::string_view bytes);

}  // namespace halite::ingest
