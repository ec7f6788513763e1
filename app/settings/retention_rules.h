// Parses "tmp.=7d, audit.=10y" into retention rules.
#pragma once

#include <string_view>
#include <vector>

#include "common/result.h"
#include "storage/tsdb/core/options.h"

namespace halite::app {

// Prefixes and durations, separated by commas; 0 = no expiry. An empty text gives no rules.
// kInvalidArgument names the setting and the invalid part.
[[nodiscard]] Result<std::vector<storage::RetentionRule>> parse_retention_rules(
    std::string_view text);

}  // namespace halite::app
