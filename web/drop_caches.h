// What both `dropcaches` do: the telnet command and /api/dropcaches.
#pragma once

#include "ingest/writer.h"
#include "web/server.h"

namespace halite::web {

// Ids of names stay known: they never change, and renames go through this process.
inline void drop_caches(const WebServices& services) {
  services.writer.clear_series_cache();
  if (services.drop_caches) services.drop_caches();
}

}  // namespace halite::web
