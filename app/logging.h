// The process's log: standard error, as text or one JSON object a line.
//
// Who logs puts the line into memory: where /logs finds it at once, and into the queue of the
// thread that writes (log_writer.h). A broken promise (common/check.h) and std::terminate() wait
// for that thread before the process ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.h"
#include "common/result.h"
#include "web/server.h"

namespace halite::app {

// The log while this lives; there is one at a time, made before there are other threads and gone
// after them. Then all lines are written, and what is still logged is written by whoever logs it.
class LoggingScope {
 public:
  explicit LoggingScope(const LogOptions& options);
  ~LoggingScope();
  LoggingScope(const LoggingScope&) = delete;
  LoggingScope& operator=(const LoggingScope&) = delete;
};

// Lines for which there was no room (log.queue_bytes_max), since the start.
[[nodiscard]] std::uint64_t dropped_log_lines();

// Writes what was logged, as far as it can be within seconds, and ends the process at once with a
// failure: nothing is taken apart, no file is closed.
[[noreturn]] void end_process();

// The last lines, the newest first: as many as log.lines_max.
[[nodiscard]] std::vector<web::LogLine> last_log_lines();

// Logs from this level on, in OpenTSDB's words ("DEBUG", "INFO", ..), where the logger is empty,
// "root" or ours: how many loggers that are. kInvalidArgument: no such level.
Result<int> set_log_level(std::string_view level, std::string_view logger);

// One JSON object without its line end: {"time":"...","level":"...","message":"..."}.
[[nodiscard]] std::string log_json(std::string_view time, std::string_view level,
                                   std::string_view message);

}  // namespace halite::app
