// One telnet line: rollup [<interval>-<agg>][:<groupagg>] <metric> <timestamp> <value>
// <tagk=tagv>...
//
//   1h-sum       a rollup: the sums of a series' hours
//   1h-sum:max   a rolled up pre-aggregate
//   sum          a pre-aggregate of the default interval
#pragma once

#include <expected>
#include <string_view>

#include "ingest/rollup_rules.h"

namespace halite::ingest {

// `line` is without its end; a '\r' before that may still be there.
[[nodiscard]] std::expected<NamedRollup, Refused> parse_rollup_line(std::string_view line,
                                                                    const RollupRules& rules);

}  // namespace halite::ingest
