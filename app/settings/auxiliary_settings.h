// Reads and checks the settings of rollups and histograms.
#pragma once

#include <optional>

#include "app/settings/options.h"
#include "storage/cells/rollups/rollup_config.h"

namespace halite::app {

// nullopt if rollups.enabled is off. kInvalidArgument names the setting and the error; kNotFound:
// its file does not exist.
[[nodiscard]] Result<std::optional<storage::RollupConfig>> rollup_config(const Options& options);

// nullopt if histograms.config is empty.
[[nodiscard]] Result<std::optional<storage::HistogramConfig>> histogram_config(
    const Options& options);

}  // namespace halite::app
