// The order in which OpenTSDB assigns ids to the tags of a series.
//
// OpenTSDB iterates over a Java HashMap. Ids determine the order of tags in row keys and of groups
// in answers, so Halite assigns new ids in that order, too.
#pragma once

#include <cstdint>
#include <vector>

#include "common/data_point.h"

namespace halite::storage {

// Indexes into `tags` (in key order); keys in one hash bucket keep their order.
[[nodiscard]] std::vector<std::uint32_t> name_order(const std::vector<Tag>& tags);

}  // namespace halite::storage
