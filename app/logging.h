// Sets up the process's log: standard error, as text or one JSON object a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/options.h"
#include "common/result.h"
#include "web/server.h"

namespace halite::app {

void set_up_log(const LogOptions& options);

// The last lines, the newest first: what set_up_log() was told to keep.
[[nodiscard]] std::vector<web::LogLine> last_log_lines();

// Logs from this level on, in OpenTSDB's words ("DEBUG", "INFO", ..), where the logger is empty,
// "root" or ours: how many loggers that are. kInvalidArgument: no such level.
Result<int> set_log_level(std::string_view level, std::string_view logger);

// One JSON object without its line end: {"time":"...","level":"...","message":"..."}.
[[nodiscard]] std::string log_json(std::string_view time, std::string_view level,
                                   std::string_view message);

}  // namespace halite::app
