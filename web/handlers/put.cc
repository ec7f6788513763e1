// POST /api/put: stores points.
//
// Body        a point or an array of points: {"metric","timestamp","value","tags"}
// Parameters  summary, details: return how many were stored; details also which were not, and why
//             sync, sync_timeout=<ms>: how long to wait for durability. Every put waits for it;
//             only sync_timeout limits the wait
// Answer      204 without a body if all were stored; 200 with summary or details;
//             {"success":n,"failed":n[,"timeouts":n][,"errors":[{"datapoint":..,"error":".."}]]}
//             "success" counts durable points. "failed" includes points that may be stored or not;
//             their error says so
// Errors      400 sync_timeout is no number of milliseconds, or the body is not JSON or has no
//             points; 400 one or more points are not stored (the others are); 413 too many points;
//             503 the store cannot accept points now, or could not make them durable: send them
//             again (docs/decisions/0050)
#include "ingest/writer.h"
#include "web/handlers/handlers.h"
#include "web/handlers/put_answer.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_put(Call& call) {
  const Result<ingest::PutOptions> put_options = parse_put_options(call.target);
  if (!put_options) co_return mistake_response(call, put_options.error());
  auto putting = call.services.writer.put_json(std::move(call.request.body), *put_options);
  const Result<ingest::PutOutcome> put = co_await std::move(putting);
  co_return put_answer(call, *put_options, put);
}

}  // namespace halite::web
