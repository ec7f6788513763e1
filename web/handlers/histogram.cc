// POST /api/histogram: stores histograms.
//
// Body        a point or an array of points: {"metric","timestamp","tags"} with either
//             "buckets":{"<lower>,<upper>":count,...}, "underflow", "overflow", or
//             "id" and "value": a codec's bytes in base64
// Parameters  as /api/put
// Answer      as /api/put
// Errors      as /api/put; 400 histograms are off, for any method (503 with --opentsdb-conf)
#include "ingest/histogram_writer.h"
#include "web/handlers/handlers.h"
#include "web/handlers/put_answer.h"
#include "web/http/api_method.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_histogram(Call& call) {
  if (call.services.histograms == nullptr) {
    // Senders repeat what a 503 refuses. This will not be accepted later.
    const int status = call.options.opentsdb_words ? 503 : 400;
    co_return error_response(call, status, kHistogramsAreOff);
  }
  if (call.request.method != "POST") co_return method_not_allowed(call);
  const Result<ingest::PutOptions> put_options = parse_put_options(call.target);
  if (!put_options) co_return mistake_response(call, put_options.error());
  auto putting = call.services.histograms->put_json(std::move(call.request.body), *put_options);
  const Result<ingest::PutOutcome> put = co_await std::move(putting);
  co_return put_answer(call, *put_options, put);
}

}  // namespace halite::web
