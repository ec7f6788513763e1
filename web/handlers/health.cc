// GET /-/healthy: the process is alive. GET /-/ready: it is ready for work.
//
// Parameters  none
// Answer      200 "ok"; below /prometheus as Prometheus says it
// Errors      503 with the reason while it is not ready; 404 for other paths
#include "web/handlers/handlers.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_health(Call& call) {
  const std::string_view what =
      call.target.rest.size() == 1 ? std::string_view(call.target.rest[0]) : std::string_view();
  const bool prometheus = call.target.foreign();
  if (what == "healthy") {
    co_return text_response(200, prometheus ? "Prometheus Server is Healthy.\n" : "ok\n");
  }
  if (what != "ready") co_return text_response(404, "The endpoints are /-/healthy and /-/ready\n");
  const std::string reason = call.services.not_ready ? call.services.not_ready() : std::string();
  if (reason.empty()) {
    co_return text_response(200, prometheus ? "Prometheus Server is Ready.\n" : "ok\n");
  }
  co_return text_response(503, reason + "\n");
}

}  // namespace halite::web
