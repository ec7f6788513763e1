// The process's log: standard error, as text or one JSON object a line.
//
// Logging only puts the line into memory: into the list for /logs and into the queue of the writing
// thread (log_writer.h). A failed HALITE_CHECK (common/check.h) and std::terminate() wait for that
// thread before the process ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/options.h"
#include "common/result.h"
#include "web/server.h"

namespace halite::app {

// Runs the log while it lives. Create one, before any other thread, and destroy it after them. It
// then writes all lines; later lines are written by the thread that logs them.
class LoggingScope {
 public:
  explicit LoggingScope(const LogOptions& options);
  ~LoggingScope();
  LoggingScope(const LoggingScope&) = delete;
  LoggingScope& operator=(const LoggingScope&) = delete;
};

// Lines dropped because the queue was full (log.queue_bytes_max), since the start.
[[nodiscard]] std::uint64_t dropped_log_lines();

// Writes pending log lines for at most a few seconds, then ends the process at once with a failure:
// without destructors, and without closing files.
[[noreturn]] void end_process();

// The last lines, newest first: as many as log.lines_max.
[[nodiscard]] std::vector<web::LogLine> last_log_lines();

// Sets the level by OpenTSDB's name ("DEBUG", "INFO", ..) if the logger is empty, "root" or
// Halite's. Returns the number of loggers set. kInvalidArgument: no such level.
Result<int> set_log_level(std::string_view level, std::string_view logger);

// One JSON object without its line end: {"time":"...","level":"...","message":"..."}.
[[nodiscard]] std::string log_json(std::string_view time, std::string_view level,
                                   std::string_view message);

}  // namespace halite::app
