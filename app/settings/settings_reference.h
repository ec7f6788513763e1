// The settings reference as Markdown: docs/reference/settings.md.
#pragma once

#include <string>

#include "common/config/config.h"

namespace halite::app {

// Groups the settings by prefix and shows their defaults, not their current values.
[[nodiscard]] std::string settings_markdown(const Config& config);

}  // namespace halite::app
