// GET, DELETE /api/dropcaches: forget what can be read again.
//
// Answer      200 {"status":"200","message":"Caches dropped"}
// Errors      none
#include "web/handlers/handlers.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_dropcaches(Call& call) {
  if (call.services.drop_caches) call.services.drop_caches();
  co_return json_response(200, "{\"status\":\"200\",\"message\":\"Caches dropped\"}");
}

}  // namespace halite::web
