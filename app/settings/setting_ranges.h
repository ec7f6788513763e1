// Ranges of settings that count things.
#pragma once

#include <cstdint>
#include <limits>

#include "common/config/config.h"

namespace halite::app {

inline constexpr SettingRange kAny = {0, std::numeric_limits<std::int64_t>::max()};
inline constexpr SettingRange kAtLeastOne = {1, std::numeric_limits<std::int64_t>::max()};

}  // namespace halite::app
