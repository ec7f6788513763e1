// GET, POST /api/stats and GET /stats: the process's own numbers (web/stats.h has their names).
//
// Answer      200 [{"metric":"tsd...","timestamp":<s>,"value":"<text>","tags":{"host":".."}},..];
//             /stats: lines of text, or with ?json an array of these lines
// Errors      none
#include "web/stats.h"

#include "web/handlers/handlers.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_stats(Call& call) {
  const Stats stats = collect_stats(call.services, call.options.host_name);
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
