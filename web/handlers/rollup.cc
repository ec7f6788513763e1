// POST /api/rollup: stores rollups and pre-aggregates, computed by the sender.
//
// Body        as /api/put, each point with "interval" ("1h") and "aggregator" ("sum"), and with
//             "groupByAggregator" if it aggregates several series; then the other two are optional
// Parameters  as /api/put
// Answer      as /api/put
// Errors      as /api/put; if rollups are off, each point with an interval is refused
#include "ingest/rollup_writer.h"
#include "web/handlers/handlers.h"
#include "web/handlers/put_answer.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_rollup(Call& call) {
  const Result<ingest::PutOptions> put_options = parse_put_options(call.target);
  if (!put_options) co_return mistake_response(call, put_options.error());
  auto putting = call.services.rollups.put_json(std::move(call.request.body), *put_options);
  const Result<ingest::PutOutcome> put = co_await std::move(putting);
  co_return put_answer(call, *put_options, put);
}

}  // namespace halite::web
