// `halite metrics`: the metrics reference, docs/reference/metrics.md.
#pragma once

#include <string>

#include "common/result.h"

namespace halite::app {

// All metrics of all stores, sorted by name, as Markdown. To register them, it starts a server on a
// temporary directory and a free loopback port. Blocks; call it from the main thread.
[[nodiscard]] Result<std::string> metrics_markdown();

}  // namespace halite::app
