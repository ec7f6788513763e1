// `halite metrics`: the metrics reference, docs/reference/metrics.md.
#pragma once

#include <string>

#include "common/result.h"

namespace halite::app {

// All metrics of all stores, sorted by name, as Markdown. Registers them by starting a server on a
// temporary directory and a free port of the loopback address. Blocks; from the main thread.
[[nodiscard]] Result<std::string> metrics_markdown();

}  // namespace halite::app
