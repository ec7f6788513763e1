// GET /api/annotations: the global annotations of a time range.
//
// Parameters  start_time, end_time (default now) in any form; or a body {"startTime","endTime"}
// Answer      200 [{"tsuid":"","description","notes","custom","startTime","endTime"},..]: those
//             that begin at or after the start and end by the end
// Errors      400 no start time; an invalid time, or the end before the start (500 with
//             --opentsdb-conf)
// Other methods behave as in /api/annotation.
#include "storage/meta/metadata.h"
#include "web/handlers/annotation_request.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace asio = boost::asio;

asio::awaitable<Response> handle_annotations(Call& call) {
  if (std::optional<Response> refusal = override_method(call)) co_return std::move(*refusal);
  if (call.request.method != "GET") co_return co_await handle_annotation(call);
  std::expected<storage::Annotation, Response> note = parse_annotation_request(call);
  if (!note) co_return std::move(note.error());
  const std::int64_t begin = note->start_time;
  const std::int64_t asked = note->end_time;
  const std::int64_t last = asked == 0 ? call.services.clock.now_ms() : asked;
  if (last < begin) {
    const Error mistake{
        Errc::kInvalidArgument, "The end timestamp cannot be less than the start timestamp", {}};
    co_return mistake_response(call, mistake);
  }
  storage::AnnotationStore& store = call.services.metadata.annotations();
  const Result<std::vector<storage::Annotation>> found = co_await store.globals(begin, last);
  if (!found) co_return error_response(call, found.error());
  co_return json_response(200, annotations_json(*found));
}

}  // namespace halite::web
