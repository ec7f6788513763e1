// GET /api/server: the state of the server. GET /api/server/queries: running and recent queries.
// DELETE /api/server/queries/<id>: cancels a running query.
//
// Parameters  none
// Answer      200 {"now":<ms>,"started":<ms>,"version":"..","store":"engine","mode":"rw",
//             "ready":true,"reason":"","refused":[{"time","protocol","reason","error","point"},..],
//             "cycles":[{"prefix","ttlMs","spanMs","ringSlots","slots":[{"slot","begin","end",
//             "bytes","files","sealed","late"},..]},..],"crowded":[{"metric","refused"},..]}:
//             samples of refused points, newest first; slots with points in files, by retention
//             class; metrics over their new-series quota in this hour and the previous one, by
//             descending number of refused series
//             200 {"running":[{"id","query","remote","begin","elapsedMs","cancelled"},..],
//             "completed":[{.., "status","error","cost"},..]}, newest first
//             204 the query was asked to stop
// Errors      404 unknown page; no running query with this id; 405 wrong method
// server_regions.cc serves GET /api/server/regions.
#include <iterator>
#include <ranges>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "ingest/writer.h"
#include "storage/api/slot_status.h"
#include "web/handlers/handlers.h"
#include "web/http/api_method.h"
#include "web/metrics.h"

namespace halite::web {

namespace {

constexpr std::size_t kOverQuotaMax = 10;

std::string_view mode_name(Mode mode) {
  switch (mode) {
    case Mode::kReadOnly:
      return "ro";
    case Mode::kWriteOnly:
      return "wo";
    case Mode::kReadWrite:
      break;
  }
  return "rw";
}

void append_refused(std::string& to, const std::vector<ingest::RefusedSample>& samples) {
  append_json_list(to, std::views::reverse(samples), [&to](const ingest::RefusedSample& sample) {
    fmt::format_to(std::back_inserter(to), R"({{"time":{},"protocol":"{}","reason":"{}","error":)",
                   sample.time, ingest::protocol_name(sample.protocol),
                   ingest::refusal_name(sample.reason));
    append_json_string(to, sample.error);
    to += ",\"point\":";
    append_json_string(to, sample.point);
    to += '}';
  });
}

void append_cycle(std::string& to, const storage::RetentionStatus& cycle) {
  to += "{\"prefix\":";
  append_json_string(to, cycle.prefix);
  fmt::format_to(std::back_inserter(to), R"(,"ttlMs":{},"spanMs":{},"ringSlots":{},"slots":)",
                 cycle.ttl_ms, cycle.span_ms, cycle.ring_slots);
  append_json_list(to, cycle.slots, [&to, &cycle](const storage::SlotStatus& slot) {
    fmt::format_to(
        std::back_inserter(to),
        R"({{"slot":{},"begin":{},"end":{},"bytes":{},"files":{},"sealed":{},"late":{}}})",
        slot.slot, slot.period * cycle.span_ms, (slot.period + 1) * cycle.span_ms, slot.bytes,
        slot.files, slot.sealed, slot.late);
  });
  to += '}';
}

std::string overview(const Call& call) {
  const WebServices& services = call.services;
  const std::string reason = services.not_ready ? services.not_ready() : std::string();
  std::string json = fmt::format(R"({{"now":{},"started":{},"version":)", services.clock.now_ms(),
                                 services.started_ms);
  append_json_string(json, services.version.version);
  json += ",\"store\":";
  append_json_string(json, services.store_name);
  json += fmt::format(R"(,"mode":"{}","ready":{},"reason":)", mode_name(call.options.mode),
                      reason.empty());
  append_json_string(json, reason);
  json += ",\"refused\":";
  append_refused(json, services.writer.refused_samples());
  json += ",\"cycles\":";
  const auto cycles = services.slots ? services.slots() : std::vector<storage::RetentionStatus>();
  append_json_list(json, cycles, [&json](const auto& cycle) { append_cycle(json, cycle); });
  json += ",\"crowded\":";
  append_json_list(json, services.store.over_quota(kOverQuotaMax), [&json](const auto& metric) {
    json += "{\"metric\":";
    append_json_string(json, metric.metric);
    fmt::format_to(std::back_inserter(json), R"(,"refused":{}}})", metric.refused);
  });
  return json + '}';
}

Response cancel(const Call& call) {
  const std::string& text = call.target.rest[1];
  std::uint64_t id = 0;
  const bool number = read_number(text, id);
  if (!number || !call.metrics.queries.cancel(id)) {
    return error_response(call, 404, fmt::format("No query with the id {} is running", text));
  }
  return json_response(204, "");
}

}  // namespace

boost::asio::awaitable<Response> handle_server(Call& call) {
  const std::vector<std::string>& rest = call.target.rest;
  const bool queries = !rest.empty() && rest[0] == "queries";
  const bool regions = rest.size() == 1 && rest[0] == "regions";
  if ((!rest.empty() && !queries && !regions) || rest.size() > 2) {
    co_return error_response(call, 404,
                             "The endpoints are /api/server, /api/server/queries, "
                             "/api/server/queries/<id> and /api/server/regions");
  }
  const bool get = call.request.method == "GET" || call.request.method == "HEAD";
  if (regions && get) co_return co_await show_regions(call);
  if (get == (rest.size() == 2)) co_return method_not_allowed(call);
  if (!get) co_return cancel(call);
  const TimestampMs now = call.services.clock.now_ms();
  co_return json_response(200, queries ? call.metrics.queries.status_json(now) : overview(call));
}

}  // namespace halite::web
