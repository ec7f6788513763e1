// One telnet line: histogram <metric> <timestamp> <histogram> <tagk=tagv>...
//
//   <codec id> <base64>                 bytes of a codec
//   lo,hi=count[:lo,hi=count..][:u=n][:o=n]   buckets, underflow and overflow
#pragma once

#include <expected>
#include <string_view>

#include "ingest/rules/histogram_rules.h"

namespace halite::ingest {

// `line` has no line feed, but may end in '\r'. A refusal with an empty text sends no reply, as in
// OpenTSDB. Errors that OpenTSDB finds late count as storage errors.
[[nodiscard]] std::expected<NamedHistogram, Refused> parse_histogram_line(
    std::string_view line, const HistogramRules& rules);

}  // namespace halite::ingest
