// What all sessions of a server share. Made before the first of them, gone after the last.
#pragma once

#include "web/metrics.h"
#include "web/options.h"
#include "web/server.h"

namespace halite::web {

struct WebContext {
  WebOptions options;
  WebServices services;
  WebMetrics metrics;
};

}  // namespace halite::web
