// The state that all sessions of a server share. It outlives the sessions.
#pragma once

#include <utility>

#include "web/access/access_control.h"
#include "web/connection/tls.h"
#include "web/http/byte_budget.h"
#include "web/metrics.h"
#include "web/options.h"
#include "web/server.h"

namespace halite::web {

struct WebContext {
  WebContext(WebOptions settings, WebServices what)
      : options(std::move(settings)),
        services(std::move(what)),
        metrics(services.registry),
        access(options.access, services.clock, services.registry),
        tls(options.tls),
        bodies(options.bodies_bytes_max) {}

  WebOptions options;
  WebServices services;
  WebMetrics metrics;
  AccessControl access;
  Tls tls;
  ByteBudget bodies;  // of requests, compressed and inflated
};

}  // namespace halite::web
