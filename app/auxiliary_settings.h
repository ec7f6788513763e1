// What the settings say of rollups and histograms, read and checked.
#pragma once

#include <optional>

#include "app/options.h"
#include "storage/cells/rollups/rollup_config.h"

namespace halite::app {

// Nothing where rollups.enabled is off. kInvalidArgument names the setting and what is wrong;
// kNotFound: its file is not there.
[[nodiscard]] Result<std::optional<storage::RollupConfig>> rollup_config(const Options& options);

// Nothing where histograms.config is empty.
[[nodiscard]] Result<std::optional<storage::HistogramConfig>> histogram_config(
    const Options& options);

}  // namespace halite::app
