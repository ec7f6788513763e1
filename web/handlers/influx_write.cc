// POST /write (InfluxDB 1), /api/v2/write (2), /api/v3/write_lp (3): stores points of the line
// protocol. docs/send-data/influx.md
//
// Body        lines: measurement,tag=v field=1.5,other=2i 1700000000000000000
// Parameters  db: of 1 and 3, required; the tag `db` of series without one. bucket: of 2, required;
//             org, rp, consistency, no_sync: not used
//             precision: 1: ns (default), n, us, u, ms, s, m, h; 2: ns (default), us, ms, s;
//             3: auto (default), nanosecond, microsecond, millisecond, second, and short forms
//             accept_partial: of 3; false: one bad line, and nothing is stored
// Answer      204 all lines are stored
// Errors      400 some lines are refused; the others are stored. The text names the first ones
//             400, 404 a parameter is wrong or missing; 413 too many points; 503 send it again
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "common/json_string.h"
#include "ingest/bodies/body_writer.h"
#include "ingest/formats/lines.h"
#include "web/handlers/body_answer.h"
#include "web/handlers/handlers.h"

namespace halite::web {
namespace {

using ingest::TimeUnit;

constexpr std::size_t kOriginalLineBytes = 20;  // of a refused line in an answer of version 3

std::optional<TimeUnit> precision_of(std::string_view name, Dialect dialect) {
  if (dialect == Dialect::kInflux1) return ingest::time_unit_named(name.empty() ? "ns" : name);
  if (dialect == Dialect::kInflux2) {
    const auto unit = ingest::time_unit_named(name.empty() ? "ns" : name);
    return unit > TimeUnit::kSeconds || name == "n" || name == "u" ? std::nullopt : unit;
  }
  constexpr std::array<std::pair<std::string_view, TimeUnit>, 5> kLong = {
      {{"auto", TimeUnit::kGuessed},
       {"nanosecond", TimeUnit::kNanoseconds},
       {"microsecond", TimeUnit::kMicroseconds},
       {"millisecond", TimeUnit::kMilliseconds},
       {"second", TimeUnit::kSeconds}}};
  if (name.empty()) return TimeUnit::kGuessed;
  for (const auto& [known, unit] : kLong) {
    if (name == known) return unit;
  }
  return ingest::time_unit_named(name);
}

std::string wrong_precision(std::string_view name, Dialect dialect) {
  if (dialect == Dialect::kInflux1) {
    return fmt::format("invalid precision {} (use n, u, ms, s, m or h)", json_string(name));
  }
  return "invalid precision; valid precision units are ns, us, ms, and s";
}

// {"error":"partial write ..","data":[{"error_message":"..","line_number":2,"original_line":".."}]}
Response version_3_failure(std::string_view body, const ingest::BodyOutcome& put, bool whole) {
  std::string data;
  for (const ingest::BodyRefusal& refusal : put.refusals) {
    if (!data.empty()) data += ',';
    const std::string_view line = ingest::line_of(body, refusal.part);
    data += fmt::format(R"({{"error_message":{},"line_number":{},"original_line":{}}})",
                        json_string(refusal.reason), refusal.part,
                        json_string(utf8_prefix(line, kOriginalLineBytes)));
    if (whole) break;
  }
  return json_response(400, whole ? fmt::format(R"({{"error":"line protocol parsing error",)"
                                                R"("data":{}}})",
                                                data)
                                  : fmt::format(R"({{"error":"partial write of line protocol )"
                                                R"(occurred","data":[{}]}})",
                                                data));
}

Response refused_lines(const Call& call, const ingest::BodyOutcome& put, bool whole) {
  whole = whole && put.points == 0;  // the store may refuse lines that parse
  if (call.target.dialect == Dialect::kInflux3) {
    return version_3_failure(call.request.body, put, whole);
  }
  const std::string lines = refusals_text(put, "line");
  if (put.points == 0) return error_response(call, 400, "unable to parse: " + lines);
  return error_response(
      call, 400,
      fmt::format("partial write: unable to parse: {} dropped={}", lines, put.refused_parts));
}

}  // namespace

boost::asio::awaitable<Response> handle_influx_write(Call& call) {
  const Dialect dialect = call.target.dialect;
  const bool has_bucket = dialect == Dialect::kInflux2;
  if (call.target.get(has_bucket ? "bucket" : "db").empty()) {
    co_return has_bucket ? error_response(call, 404, "bucket not found")
                         : error_response(call, 400, "database is required");
  }
  const std::string_view precision = call.target.get("precision");
  const std::optional<TimeUnit> unit = precision_of(precision, dialect);
  if (!unit) co_return error_response(call, 400, wrong_precision(precision, dialect));
  const std::string_view partial = call.target.get("accept_partial");
  if (!partial.empty() && partial != "true" && partial != "false") {
    co_return error_response(call, 400, "accept_partial must be true or false");
  }
  const bool whole = dialect == Dialect::kInflux3 && partial == "false";

  ingest::FormatOptions options = call.options.influx;
  options.influx_precision = *unit;
  options.default_time = call.services.clock.now_ms();
  if (!has_bucket) options.influx_database = call.target.get("db");
  ingest::BodyWriter bodies(call.services.writer);
  auto putting = bodies.put(ingest::LinesBody{.text = call.request.body,
                                              .format = ingest::Format::kInflux,
                                              .options = std::move(options),
                                              .all_or_nothing = whole},
                            ingest::Protocol::kInflux);
  const Result<ingest::BodyOutcome> put = co_await std::move(putting);
  if (auto failure = failed_body(call, put)) co_return *std::move(failure);
  Response response =
      put->refused_parts > 0 ? refused_lines(call, *put, whole) : json_response(204, "");
  response.headers.add("X-Influxdb-Version", std::string(kInfluxVersion));
  co_return response;
}

}  // namespace halite::web
