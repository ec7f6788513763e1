// The action of both `dropcaches`: the telnet command and /api/dropcaches.
#pragma once

#include "ingest/writer.h"
#include "web/server.h"

namespace halite::web {

// Keeps the ids of names: they never change, and this process makes all renames.
inline void drop_caches(const WebServices& services) {
  services.writer.clear_series_cache();
  if (services.drop_caches) services.drop_caches();
}

}  // namespace halite::web
