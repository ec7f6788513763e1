#include "web/handlers/annotation_request.h"

#include <optional>

#include "common/json_list.h"
#include "query/parse/time.h"

namespace halite::web {

namespace {

// In seconds; nullopt if the parameter is absent or empty.
Result<std::optional<std::int64_t>> seconds_of(const Call& call, std::string_view name) {
  const std::string_view text = call.target.get(name);
  if (text.empty()) return std::nullopt;
  TRY(const TimestampMs time, query::parse_time(text, time_context(call)));
  return time / 1000;
}

}  // namespace

query::ParseContext time_context(const Call& call) {
  const std::string_view named =
      call.options.opentsdb_words ? std::string_view() : call.target.get("timezone");
  return {.now = call.services.clock.now_ms(),
          .timezone = named.empty() ? call.options.timezone : std::string(named)};
}

std::expected<storage::Annotation, Response> parse_annotation_request(const Call& call) {
  if (!call.request.body.empty()) {
    Result<storage::Annotation> note = storage::parse_annotation(call.request.body);
    if (!note) return std::unexpected(mistake_response(call, note.error()));
    return std::move(*note);
  }
  const Result<std::optional<std::int64_t>> start = seconds_of(call, "start_time");
  if (!start) return std::unexpected(mistake_response(call, start.error()));
  if (start->value_or(0) < 1) {
    return std::unexpected(error_response(call, 400, "Missing start time"));
  }
  const Result<std::optional<std::int64_t>> end = seconds_of(call, "end_time");
  if (!end) return std::unexpected(mistake_response(call, end.error()));
  storage::Annotation note;
  note.tsuid = call.target.get("tsuid");
  note.start_time = **start;
  note.end_time = end->value_or(0);
  note.description = call.target.get("description");
  note.notes = call.target.get("notes");
  return note;
}

std::string annotations_json(const std::vector<storage::Annotation>& notes) {
  std::string json;
  append_json_list(json, notes, [&json](const storage::Annotation& note) {
    storage::append_shown_json(json, note);
  });
  return json;
}

}  // namespace halite::web
