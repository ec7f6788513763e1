// POST /api/v1/import/prometheus, /api/v1/import: stores points of Prometheus' text formats and of
// VictoriaMetrics' JSON lines. docs/send-data/prometheus-text.md
//
// Body        /prometheus: the text format, or OpenMetrics if that is the Content-Type
//             /import: {"metric":{"__name__":"m","k":"v"},"values":[1,2],"timestamps":[ms,ms]}
// Parameters  timestamp: of /prometheus, milliseconds, for lines without a time; default: now
// Answer      204 all lines are stored
// Errors      400 some lines are refused; the others are stored. The text names the first ones
//             413 too many points; 503 send it again
#include <optional>
#include <string>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "ingest/bodies/body_writer.h"
#include "web/handlers/body_answer.h"
#include "web/handlers/handlers.h"

namespace halite::web {
namespace {

using ingest::Format;

boost::asio::awaitable<Response> put_lines(Call& call, Format format, ingest::Protocol protocol) {
  if (call.target.has("extra_label")) {
    co_return error_response(call, 400, "extra_label is not supported");
  }
  ingest::FormatOptions options;
  options.default_time = call.services.clock.now_ms();
  if (const std::string_view time = call.target.get("timestamp"); !time.empty()) {
    std::int64_t count = 0;
    if (!read_number(time, count)) {
      co_return error_response(
          call, 400, fmt::format("timestamp must be milliseconds since 1970, not \"{}\"", time));
    }
    const auto ms = ingest::time_in(count, ingest::TimeUnit::kMilliseconds);
    if (!ms) co_return error_response(call, 400, "timestamp: " + ms.error());
    options.default_time = *ms;
  }
  ingest::BodyWriter bodies(call.services.writer);
  auto putting = bodies.put(
      ingest::LinesBody{.text = call.request.body, .format = format, .options = std::move(options)},
      protocol);
  Result<ingest::BodyOutcome> put = co_await std::move(putting);
  if (auto failure = failed_body(call, put)) co_return *std::move(failure);
  co_await keep_families(call, *put);
  if (put->refused_parts == 0) co_return text_response(204, "");
  co_return error_response(
      call, 400,
      fmt::format("{} of the lines not stored, {} points stored: {}", put->refused_parts,
                  put->points, refusals_text(*put, "line")));
}

}  // namespace

boost::asio::awaitable<Response> handle_import_prometheus(Call& call) {
  const bool openmetrics = has_media_type(call.request, "application/openmetrics-text");
  const Format format = openmetrics ? Format::kOpenMetrics : Format::kPrometheus;
  return put_lines(call, format, ingest::Protocol::kPrometheus);
}

boost::asio::awaitable<Response> handle_import_vmjson(Call& call) {
  return put_lines(call, Format::kVmJson, ingest::Protocol::kVmJson);
}

}  // namespace halite::web
