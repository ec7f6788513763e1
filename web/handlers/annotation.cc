// GET, POST, PUT, DELETE /api/annotation: one annotation, of a series or global.
//
// Parameters  start_time, tsuid (absent: a global annotation), end_time, description, notes; times
//             in any form, stored in seconds; method_override. Or a body
//             {"tsuid","startTime","endTime","description","notes","custom":{}}, with times in
//             seconds or milliseconds
// GET         200 {"tsuid","description","notes","custom","startTime","endTime"}; 404 it does not
//             exist
// POST        changes the given fields, PUT resets the others: 200 the annotation; 304 no field is
//             given
// DELETE      204, even if it does not exist
// Errors      400 no start time, or one outside the range of rows; invalid JSON, hexadecimal or
//             time (500 with --opentsdb-conf)
// annotation_bulk.cc serves the paths /api/annotation/..bulk.
#include "common/bytes/ascii.h"
#include "storage/meta/metadata.h"
#include "web/handlers/annotation_request.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

using storage::Annotation;

const Error& no_start() {
  static const Error kError{Errc::kInvalidArgument, "The start timestamp has not been set", {}};
  return kError;
}

asio::awaitable<Response> get_annotation(Call& call, Annotation note) {
  if (note.start_time < 1) co_return mistake_response(call, no_start());
  Result<Bytes> tsuid = storage::tsuid_bytes(note.tsuid);
  if (!tsuid) co_return mistake_response(call, tsuid.error());
  storage::AnnotationStore& store = call.services.metadata.annotations();
  const Result<std::optional<Annotation>> found =
      co_await store.get(std::move(*tsuid), note.start_time);
  if (!found) co_return error_response(call, found.error());
  if (!*found) co_return error_response(call, 404, "Unable to locate annotation in storage");
  std::string json;
  storage::append_shown_json(json, **found);
  co_return json_response(200, std::move(json));
}

asio::awaitable<Response> put_annotation(Call& call, Annotation note) {
  if (note.start_time < 1) co_return wrong_argument(call, no_start());
  storage::AnnotationEdit edit{std::move(note)};
  if (!edit.changes_anything()) co_return status_only(304);
  const bool replace = call.request.method == "PUT";
  storage::AnnotationStore& store = call.services.metadata.annotations();
  const Result<Annotation> stored = co_await store.put(std::move(edit), replace);
  if (!stored) co_return save_error(call, "Annotation", stored.error());
  std::string json;
  storage::append_shown_json(json, *stored);
  co_return json_response(200, std::move(json));
}

asio::awaitable<Response> remove_annotation(Call& call, Annotation note) {
  Result<Bytes> tsuid = storage::tsuid_bytes(note.tsuid);
  const bool good = tsuid && note.start_time >= 1;
  if (!good) {
    co_return error_response(call, 400, "Unable to delete Annotation information",
                             note.start_time < 1 ? no_start().message : tsuid.error().message);
  }
  storage::AnnotationStore& store = call.services.metadata.annotations();
  const Result<void> removed = co_await store.remove(std::move(*tsuid), note.start_time);
  if (!removed) co_return error_response(call, removed.error());
  co_return status_only(204);
}

}  // namespace

asio::awaitable<Response> handle_annotation(Call& call) {
  if (std::optional<Response> refusal = override_method(call)) co_return std::move(*refusal);
  const bool bulk = !call.target.rest.empty() && to_lower(call.target.rest[0]).ends_with("bulk");
  if (bulk) co_return co_await handle_annotation_bulk(call);
  std::expected<Annotation, Response> note = parse_annotation_request(call);
  if (!note) co_return std::move(note.error());
  if (call.request.method == "GET") co_return co_await get_annotation(call, std::move(*note));
  if (call.request.method == "DELETE") co_return co_await remove_annotation(call, std::move(*note));
  co_return co_await put_annotation(call, std::move(*note));
}

}  // namespace halite::web
