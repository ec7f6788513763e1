// `halite serve`: runs one server.
#pragma once

#include "app/settings/options.h"

namespace halite::app {

// Serves until SIGTERM, SIGINT or, with a terminal, SIGHUP. Then it refuses connections, finishes
// running requests, makes everything durable and returns. A second signal ends the process at once.
// Call it from the main thread, before any other thread exists. Rules of counters and views follow
// the file.
Result<void> serve(const Options& options, const Config& config, SettingsFile file);

}  // namespace halite::app
