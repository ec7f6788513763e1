// The order in which OpenTSDB gives ids to a series' tags.
//
// It walks a Java HashMap. Ids decide the order of tags in row keys and of groups in answers, so
// new names get theirs in that order here, too.
#pragma once

#include <cstdint>
#include <vector>

#include "common/data_point.h"

namespace halite::storage {

// Indices into `tags` (in key order); keys that fall into one bucket keep the order given.
[[nodiscard]] std::vector<std::uint32_t> name_order(const std::vector<Tag>& tags);

}  // namespace halite::storage
