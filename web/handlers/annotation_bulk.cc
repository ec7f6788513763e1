// POST, PUT, DELETE /api/annotation/bulk: many annotations at once.
//
// POST, PUT   [{"tsuid","startTime",..},..]: each as in /api/annotation. 200 [..] the stored ones,
//             without those that give no field
// DELETE      {"startTime","endTime","tsuids":[..],"global":false}, or start_time, end_time,
//             tsuids=A,B and global in the URI: annotations that begin in this range, both ends
//             inclusive.
//             200 {"tsuids":[..],"global":..,"startTime":<ms>,"endTime":<ms>,"totalDeleted":n}
// Errors      400 invalid request: nothing was changed; 405 GET
#include <set>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/gather.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "query/parse/text.h"
#include "query/parse/time.h"
#include "storage/meta/metadata.h"
#include "web/handlers/annotation_request.h"
#include "web/handlers/handlers.h"
#include "web/handlers/meta_answers.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

using storage::Annotation;
using storage::AnnotationEdit;

constexpr std::size_t kWritesAtOnce = 64;

struct BulkDelete {
  std::optional<std::string> start_time;
  std::optional<std::string> end_time;
  std::optional<std::vector<std::string>> tsuids;
  bool global = false;
};

Result<std::vector<Annotation>> parse_notes(std::string_view body) {
  TRY(const boost::json::array list, storage::parse_json_array(body));
  std::vector<Annotation> notes;
  for (const boost::json::value& element : list) {
    if (!element.is_object()) {
      return fail(Errc::kInvalidArgument, "an annotation must be an object");
    }
    TRY(Annotation note, storage::parse_annotation(element.get_object()));
    notes.push_back(std::move(note));
  }
  return notes;
}

Result<BulkDelete> parse_delete_body(std::string_view body) {
  TRY(const boost::json::object object, storage::parse_json_object(body));
  BulkDelete wanted;
  for (const auto& [key, value] : object) {
    const std::string_view name = key;
    if (name == "startTime") {
      TRY(wanted.start_time, storage::text_field(name, value));
    } else if (name == "endTime") {
      TRY(wanted.end_time, storage::text_field(name, value));
    } else if (name == "tsuids") {
      TRY(wanted.tsuids, storage::texts_field(name, value));
    } else if (name == "global") {
      TRY(wanted.global, storage::bool_field(name, value));
    }
  }
  return wanted;
}

BulkDelete parse_delete_uri(const Target& target) {
  BulkDelete wanted;
  wanted.start_time = target.get("start_time");
  wanted.end_time = target.get("end_time");
  wanted.global = target.has("global");
  if (!target.has("tsuids")) return wanted;
  wanted.tsuids.emplace();
  for (const std::string_view tsuid : query::split_trimmed(target.get("tsuids"), ',')) {
    wanted.tsuids->emplace_back(trim(tsuid));
  }
  return wanted;
}

Result<std::vector<Bytes>> series_of(const BulkDelete& wanted) {
  std::vector<Bytes> series;
  if (wanted.global) series.emplace_back();
  if (!wanted.tsuids) return series;
  for (const std::string& text : *wanted.tsuids) {
    TRY(Bytes tsuid, storage::tsuid_bytes(text));
    if (tsuid.empty()) return fail(Errc::kInvalidArgument, "UID was empty");
    series.push_back(std::move(tsuid));
  }
  return series;
}

struct Span {
  TimestampMs begin = 0;
  TimestampMs last = 0;
};

Result<Span> span_of(const BulkDelete& wanted, const query::ParseContext& context) {
  Span span;
  TRY(span.begin, query::parse_time(*wanted.start_time, context));
  span.last = context.now;
  if (wanted.end_time && !wanted.end_time->empty()) {
    TRY(span.last, query::parse_time(*wanted.end_time, context));
  }
  if (span.last < 1) return fail(Errc::kInvalidArgument, "The end timestamp has not been set");
  if (span.last < span.begin) {
    return fail(Errc::kInvalidArgument,
                "The end timestamp cannot be less than the start timestamp");
  }
  return span;
}

std::string deleted_json(const BulkDelete& wanted, Span span, std::uint64_t deleted) {
  std::string json = "{\"tsuids\":";
  if (wanted.tsuids) {
    append_json_texts(json, *wanted.tsuids);
  } else {
    json += "null";
  }
  json += fmt::format(",\"global\":{},\"startTime\":{},\"endTime\":{},\"totalDeleted\":{}}}",
                      wanted.global, span.begin, span.last, deleted);
  return json;
}

asio::awaitable<Response> remove_annotations(Call& call) {
  Result<BulkDelete> wanted = call.request.body.empty() ? parse_delete_uri(call.target)
                                                        : parse_delete_body(call.request.body);
  if (!wanted) co_return wrong_argument(call, wanted.error());
  if (!wanted->start_time || wanted->start_time->empty()) {
    if (call.request.body.empty()) co_return missing_parameter(call, "start_time");
    co_return error_response(call, 400, "Missing the start time value");
  }
  if (!wanted->global && (!wanted->tsuids || wanted->tsuids->empty())) {
    co_return error_response(call, 400, "Missing the TSUIDs or global annotations flag");
  }
  const Result<Span> span = span_of(*wanted, time_context(call));
  if (!span) co_return wrong_argument(call, span.error());
  Result<std::vector<Bytes>> series = series_of(*wanted);
  if (!series) co_return wrong_argument(call, series.error());
  storage::AnnotationStore& store = call.services.metadata.annotations();
  std::uint64_t deleted = 0;
  for (Bytes& tsuid : *series) {
    const Result<std::uint64_t> count =
        co_await store.remove_range(std::move(tsuid), span->begin, span->last);
    if (!count) co_return error_response(call, count.error());
    deleted += *count;
  }
  co_return json_response(200, deleted_json(*wanted, *span, deleted));
}

// Validates an annotation before anything is written. The error's details describe it.
Result<void> check(const Annotation& note) {
  Error error{Errc::kInvalidArgument, {}, {}};
  if (note.start_time < 1) {
    error.message = "The start timestamp has not been set";
  } else if (const Result<Bytes> tsuid = storage::tsuid_bytes(note.tsuid); !tsuid) {
    error.message = tsuid.error().message;
  } else {
    return {};
  }
  error.details = fmt::format("Annotation error: TSUID: {} Start: {}  Description: {}", note.tsuid,
                              note.start_time, note.description.value_or("null"));
  return std::unexpected(std::move(error));
}

// One at a time if a place is named twice: then the later annotation is written later.
std::size_t writes_at_once(const std::vector<Annotation>& notes) {
  std::set<std::pair<std::string_view, std::int64_t>> places;
  for (const Annotation& note : notes) {
    const std::int64_t time =
        note.start_time % 1000 == 0 ? note.start_time / 1000 : note.start_time;
    if (!places.emplace(note.tsuid, time).second) return 1;
  }
  return kWritesAtOnce;
}

asio::awaitable<Response> put_annotations(Call& call) {
  if (call.request.body.empty()) co_return missing_content(call);
  Result<std::vector<Annotation>> notes = parse_notes(call.request.body);
  if (!notes) co_return wrong_argument(call, notes.error());
  storage::AnnotationStore& store = call.services.metadata.annotations();
  const bool replace = call.request.method == "PUT";
  const std::size_t at_once = writes_at_once(*notes);
  std::vector<Task<Annotation>> writes;
  for (Annotation& note : *notes) {
    if (const Result<void> good = check(note); !good) co_return error_response(call, good.error());
    AnnotationEdit edit{std::move(note)};
    if (edit.changes_anything()) writes.push_back(store.put(std::move(edit), replace));
  }
  std::vector<Result<Annotation>> outcomes = co_await gather(std::move(writes), at_once);
  std::vector<Annotation> stored;
  for (Result<Annotation>& outcome : outcomes) {
    if (!outcome) co_return save_error(call, "Annotation", outcome.error());
    stored.push_back(std::move(*outcome));
  }
  co_return json_response(200, annotations_json(stored));
}

}  // namespace

asio::awaitable<Response> handle_annotation_bulk(Call& call) {
  if (call.request.method == "DELETE") co_return co_await remove_annotations(call);
  if (call.request.method == "GET") co_return method_not_allowed(call);
  co_return co_await put_annotations(call);
}

}  // namespace halite::web
