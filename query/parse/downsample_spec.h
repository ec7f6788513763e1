// Reads "<interval>-<function>[-<fill>]": "1m-avg", "0all-sum", "1dc-max-nan".
#pragma once

#include <string_view>

#include "common/result.h"
#include "query/question.h"

namespace halite::query {

[[nodiscard]] Result<DownsampleSpec> parse_downsample(std::string_view text);

[[nodiscard]] std::string_view fill_policy_name(FillPolicy policy);  // "none", "nan", ...

}  // namespace halite::query
