// POST /api/admin/flush: what is in memory alone goes to its place on disk. POST /api/admin/seal:
// and into its final form, also where that would be done later.
//
// Parameters  none
// Answer      204 when it is done, which may take minutes
// Errors      404 another page, or none; 503 with the reason while it cannot be done
#include "storage/point_store.h"
#include "web/handlers/handlers.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_admin(Call& call) {
  const std::string_view what =
      call.target.rest.size() == 1 ? std::string_view(call.target.rest[0]) : std::string_view();
  if (what != "flush" && what != "seal") {
    co_return error_response(call, 404, "only /api/admin/flush and /api/admin/seal are here");
  }
  storage::PointStore& store = call.services.store;
  Task<void> work = what == "flush" ? store.flush() : store.seal();
  const Result<void> done = co_await std::move(work);
  if (!done) co_return error_response(call, done.error());
  co_return json_response(204, "");
}

}  // namespace halite::web
