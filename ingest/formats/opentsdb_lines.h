// "metric time value tagk=tagv ..", with or without "put " before it. Private to ingest/formats.
//
// Names, times and values follow OpenTSDB's rules, as in telnet; floats are doubles. The text
// cannot represent NaN, infinity, a series without tags, time 0, or milliseconds before
// kSurelyMillis.
#pragma once

#include <memory>

#include "ingest/formats/point_format.h"

namespace halite::ingest {

[[nodiscard]] std::unique_ptr<PointParser> make_opentsdb_parser(const PointRules& rules);
[[nodiscard]] std::unique_ptr<PointWriter> make_opentsdb_writer();

}  // namespace halite::ingest
