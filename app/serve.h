// `halite serve`: one server from its first file to its last.
#pragma once

#include "app/options.h"

namespace halite::app {

// Serves until SIGTERM, SIGINT or SIGHUP; then stops taking connections, finishes what runs, makes
// everything durable and returns. A second signal ends the process at once. Call it from the main
// thread, before any other thread is made.
Result<void> serve(const Options& options, const Config& config);

}  // namespace halite::app
