// What all sessions of a server share. Made before the first of them, gone after the last.
#pragma once

#include <utility>

#include "web/access/access_control.h"
#include "web/byte_budget.h"
#include "web/metrics.h"
#include "web/options.h"
#include "web/server.h"
#include "web/tls.h"

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
  ByteBudget bodies;  // of requests, as sent and inflated
};

}  // namespace halite::web
