// One telnet line: rollup [<interval>-<agg>][:<groupagg>] <metric> <timestamp> <value>
// <tagk=tagv>...
//
//   1h-sum       a rollup: hourly sums of a series
//   1h-sum:max   a pre-aggregate of rollups
//   sum          a pre-aggregate of the default interval
#pragma once

#include <expected>
#include <string_view>

#include "ingest/rules/rollup_rules.h"

namespace halite::ingest {

// `line` has no line feed, but may end in '\r'.
[[nodiscard]] std::expected<NamedRollup, Refused> parse_rollup_line(std::string_view line,
                                                                    const RollupRules& rules);

}  // namespace halite::ingest
