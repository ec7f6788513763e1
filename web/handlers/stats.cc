// GET, POST /api/stats and GET /stats: the process's metrics (web/stats.h describes their names).
//
// Pages       /api/stats/query: running and recent queries; /jvm and /threads: the process in
//             OpenTSDB's format; /region_clients: empty in an embedded store
// Parameters  json: /stats as an array of lines
// Answer      200 [{"metric":"tsd...","timestamp":<s>,"value":"<text>","tags":{"host":".."}},..];
//             /stats: lines of text, or with ?json an array of these lines
// Errors      none
#include "web/stats.h"

#include <optional>

#include "common/bytes/ascii.h"
#include "web/handlers/handlers.h"
#include "web/metrics.h"
#include "web/process_pages.h"

namespace halite::web {

namespace {

// The page under /api/stats/; nullopt for an unknown name.
std::optional<std::string> page(const Call& call) {
  if (!call.target.api || call.target.rest.empty()) return std::nullopt;
  const std::string name = to_lower(call.target.rest[0]);
  const TimestampMs now = call.services.clock.now_ms();
  if (name == "query") return call.metrics.queries.json(now);
  if (name == "jvm") return jvm_json(call.services.version, now);
  if (name == "threads") return threads_json();
  if (name == "region_clients") return "[]";
  return std::nullopt;
}

}  // namespace

boost::asio::awaitable<Response> handle_stats(Call& call) {
  if (std::optional<std::string> json = page(call)) co_return json_response(200, std::move(*json));
  const Stats stats = collect_stats(call.services, call.options);
  std::string text;
  if (call.target.api) {
    append_stats_json(text, stats);
    co_return json_response(200, std::move(text));
  }
  if (call.target.has("json")) {
    append_stats_lines_json(text, stats);
    co_return json_response(200, std::move(text));
  }
  append_stats_lines(text, stats);
  co_return text_response(200, std::move(text));
}

}  // namespace halite::web
