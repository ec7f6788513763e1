// GET /logs: the last lines of the log, newest first.
//
// Parameters  json: as an array of texts; level = TRACE | DEBUG | INFO | WARN | ERROR | OFF (and
//             logger = a logger's name): sets the log level; requires web.get_may_write
// Answer      200 text, a line for each message: <epoch s>\t<level>\t<thread>\t<logger>\t<message>;
//             with level: 200 Set the log level to DEBUG on 1 loggers.
// Errors      400 no such level; 405 level without web.get_may_write
// log.lines_max sets how many lines are kept. With 0, the answer is empty.
#include <fmt/format.h>

#include "common/json_string.h"
#include "web/handlers/handlers.h"
#include "web/http/api_method.h"

namespace halite::web {

namespace {

// Joins a message of several lines into one.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::string log_line_text(const LogLine& line) {
  return fmt::format("{}\t{}\t{}\t{}\t{}", line.time_s, line.level, line.thread, line.logger,
                     one_line(line.message));
}

Response set_level(Call& call) {
  if (std::optional<Response> refusal = refuse_write_by_get(call)) return std::move(*refusal);
  const std::string_view level = call.target.get("level");
  if (!call.services.set_log_level) return error_response(call, 400, "The log cannot be changed");
  const Result<int> changed = call.services.set_log_level(level, call.target.get("logger"));
  if (!changed) return error_response(call, changed.error());
  return text_response(200,
                       fmt::format("Set the log level to {} on {} loggers.\n", level, *changed));
}

}  // namespace

boost::asio::awaitable<Response> handle_logs(Call& call) {
  if (call.target.has("level")) co_return set_level(call);
  const bool json = call.target.has("json");
  std::string text = json ? "[" : "";
  const std::vector<LogLine> lines =
      call.services.log_lines ? call.services.log_lines() : std::vector<LogLine>();
  for (const LogLine& line : lines) {
    if (json) {
      if (text.size() > 1) text += ',';
      append_json_string(text, log_line_text(line));
    } else {
      text += log_line_text(line) + '\n';
    }
  }
  if (json) co_return json_response(200, text + ']');
  co_return text_response(200, std::move(text));
}

}  // namespace halite::web
