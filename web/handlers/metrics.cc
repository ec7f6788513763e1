// GET /metrics: the process's metrics for Prometheus.
//
// Parameters  none
// Answer      200, text exposition format 0.0.4
// Errors      none
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "web/handlers/handlers.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_metrics(Call& call) {
  const prometheus::TextSerializer serializer;
  co_return text_response(200, serializer.Serialize(call.services.registry.Collect()),
                          "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace halite::web
