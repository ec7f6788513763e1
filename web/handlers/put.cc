// POST /api/put: points in.
//
// Body        a point or an array of points: {"metric","timestamp","value","tags"}
// Parameters  summary, details: say how many were taken, and which were not and why
//             sync, sync_timeout=<ms>: how long to wait for durability. Every put waits for it;
//             only sync_timeout gives up
// Answer      204 without a body when all were taken; 200 with summary or details;
//             {"success":n,"failed":n[,"timeouts":n][,"errors":[{"datapoint":..,"error":".."}]]}
//             Points taken are durable before the answer goes.
// Errors      400 one or more points were not taken (the others are); 400 the body is no JSON, or
//             has no points; 413 too many points; 503 the store cannot take points now: send again
#include "ingest/writer.h"
#include "web/handlers/handlers.h"
#include "web/handlers/put_answer.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_put(Call& call) {
  const bool details = call.target.has("details");
  auto putting = call.services.writer.put_json(std::move(call.request.body), details);
  Result<ingest::PutOutcome> taken = co_await std::move(putting);
  auto answering = put_answer(call, std::move(taken));
  Response response = co_await std::move(answering);
  co_return response;
}

}  // namespace halite::web
