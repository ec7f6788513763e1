// GET, DELETE /api/dropcaches: drops the series cache and cached file blocks.
//
// Parameters  none
// Answer      200 {"status":"200","message":"Caches dropped"}
// Errors      none
#include "web/handlers/handlers.h"
#include "web/telnet/drop_caches.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_dropcaches(Call& call) {
  drop_caches(call.services);
  co_return json_response(200, "{\"status\":\"200\",\"message\":\"Caches dropped\"}");
}

}  // namespace halite::web
