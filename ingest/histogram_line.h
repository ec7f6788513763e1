// One telnet line: histogram <metric> <timestamp> <histogram> <tagk=tagv>...
//
//   <codec id> <base64>                 what a codec wrote
//   lo,hi=count[:lo,hi=count..][:u=n][:o=n]   buckets, what fell below and above them
#pragma once

#include <expected>
#include <string_view>

#include "ingest/histogram_rules.h"

namespace halite::ingest {

// `line` is without its end; a '\r' before that may still be there. A refusal without a text: as
// OpenTSDB does, nobody is told. What it finds out late it calls an error of the storage.
[[nodiscard]] std::expected<NamedHistogram, Refused> parse_histogram_line(
    std::string_view line, const HistogramRules& rules);

}  // namespace halite::ingest
