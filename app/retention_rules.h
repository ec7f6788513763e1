// "tmp.=7d, audit.=10y" as rules.
#pragma once

#include <string_view>
#include <vector>

#include "common/result.h"
#include "storage/tsdb/core/options.h"

namespace halite::app {

// Prefixes and durations by commas; 0 is for ever. An empty text is no rule. kInvalidArgument names
// the setting and the part that is wrong.
[[nodiscard]] Result<std::vector<storage::RetentionRule>> parse_retention_rules(
    std::string_view text);

}  // namespace halite::app
