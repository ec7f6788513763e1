// POST /api/admin/flush: writes data that is only in memory to its files. POST /api/admin/seal:
// also brings it into its final form, even if it is not due yet.
//
// Parameters  none
// Answer      204 when it is done, which may take minutes
//
// POST /api/admin/check: reads and checks all stored files. POST /api/admin/backup: makes a backup
// in engine.backup_dir.
//
// Answer      202 when it has begun, with the body of GET: 200 {"running":..,..}
// Errors      409 it is already running
//
// Errors      404 no such page; 501 not available here; 503 with the reason while it is not
//             possible
#include "storage/api/point_store.h"
#include "web/handlers/handlers.h"
#include "web/http/api_method.h"

namespace halite::web {
namespace {

boost::asio::awaitable<Response> resolve_store_options(Call& call, bool seal) {
  if (call.request.method != "POST") co_return method_not_allowed(call);
  storage::PointStore& store = call.services.store;
  Task<void> work = seal ? store.seal() : store.flush();
  const Result<void> done = co_await std::move(work);
  if (!done) co_return error_response(call, done.error());
  co_return json_response(204, "");
}

Response serve_job(Call& call, std::string_view name) {
  const auto job = call.services.jobs.find(name);
  if (job == call.services.jobs.end()) {
    return error_response(call, 501, "This server does not store data in files");
  }
  if (call.request.method == "GET") return json_response(200, job->second.state());
  const Result<void> started = job->second.start();
  if (!started) return error_response(call, started.error());
  return json_response(202, job->second.state());
}

}  // namespace

boost::asio::awaitable<Response> handle_admin(Call& call) {
  const std::string_view what =
      call.target.rest.size() == 1 ? std::string_view(call.target.rest[0]) : std::string_view();
  if (what == "flush" || what == "seal")
    co_return co_await resolve_store_options(call, what == "seal");
  if (what == "check" || what == "backup") co_return serve_job(call, what);
  co_return error_response(call, 404, "The endpoints are /api/admin/flush, seal, check and backup");
}

}  // namespace halite::web
