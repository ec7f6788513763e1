#include "app/server/logging.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <utility>

#include <boost/json.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "app/server/log_writer.h"
#include "common/bytes/ascii.h"
#include "common/exception_text.h"
#include "common/log.h"

namespace halite::app {
namespace {

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
    const auto since = message.time.time_since_epoch();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
    const std::string time =
        fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(ms / 1000), ms % 1000);
    const spdlog::string_view_t level = spdlog::level::to_string_view(message.level);
    const std::string line = log_json(time, {level.data(), level.size()},
                                      {message.payload.data(), message.payload.size()});
    to.append(line.data(), line.data() + line.size());
    to.push_back('\n');
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

// Set before other threads exist.
struct LogSinks {
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> kept;  // the lines of /logs; may be null
  std::shared_ptr<LogWriter> writer;
};
LogSinks& sinks() {
  static LogSinks sinks;
  return sinks;
}

[[noreturn]] void flush_and_terminate() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    log::error("the process ends because of an exception: {}", exception_text(thrown));
  }
  spdlog::default_logger_raw()->flush();
  std::abort();
}

struct LevelName {
  std::string_view name;
  spdlog::level::level_enum level;
};
constexpr std::array kLevels = {
    LevelName{"ALL", spdlog::level::trace},   LevelName{"TRACE", spdlog::level::trace},
    LevelName{"DEBUG", spdlog::level::debug}, LevelName{"INFO", spdlog::level::info},
    LevelName{"WARN", spdlog::level::warn},   LevelName{"ERROR", spdlog::level::err},
    LevelName{"OFF", spdlog::level::off},
};

// The level names of OpenTSDB's log.
std::string level_text(spdlog::level::level_enum level) {
  if (level == spdlog::level::critical) return "ERROR";
  for (const LevelName& known : kLevels) {
    if (known.level == level && known.name != "ALL") return std::string(known.name);
  }
  return "OFF";
}

}  // namespace

std::vector<web::LogLine> last_log_lines() {
  std::vector<web::LogLine> lines;
  const auto& kept = sinks().kept;
  if (!kept) return lines;
  for (const spdlog::details::log_msg_buffer& message : kept->last_raw()) {
    const auto since = message.time.time_since_epoch();
    lines.push_back({.time_s = std::chrono::duration_cast<std::chrono::seconds>(since).count(),
                     .level = level_text(message.level),
                     .thread = std::to_string(message.thread_id),
                     .logger = std::string(message.logger_name.data(), message.logger_name.size()),
                     .message = std::string(message.payload.data(), message.payload.size())});
  }
  std::ranges::reverse(lines);
  return lines;
}

Result<int> set_log_level(std::string_view level, std::string_view logger) {
  const std::string upper = to_upper(level);
  const auto known = std::ranges::find(kLevels, upper, &LevelName::name);
  if (known == kLevels.end()) {
    return fail(Errc::kInvalidArgument, fmt::format("Invalid level: {}", level));
  }
  const std::shared_ptr<spdlog::logger> ours = spdlog::default_logger();
  if (!logger.empty() && logger != "root" && logger != ours->name()) return 0;
  ours->set_level(known->level);
  return 1;
}

std::string log_json(std::string_view time, std::string_view level, std::string_view message) {
  // Text from outside may not be UTF-8; the line must be valid JSON anyway.
  std::string legal;
  for (const char c : message) legal.push_back(static_cast<unsigned char>(c) < 0x80 ? c : '?');
  return boost::json::serialize(
      boost::json::object{{"time", time}, {"level", level}, {"message", legal}});
}

LoggingScope::LoggingScope(const LogOptions& options) {
  auto logger = std::make_shared<spdlog::logger>("halite");
  sinks().kept.reset();
  if (options.lines_max > 0) {
    sinks().kept = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(options.lines_max);
    logger->sinks().push_back(sinks().kept);
  }
  sinks().writer = std::make_shared<LogWriter>(STDERR_FILENO, options.queue_bytes_max);
  logger->sinks().push_back(sinks().writer);
  if (options.format == "json") {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  }
  logger->set_level(spdlog::level::from_str(options.level));
  spdlog::set_default_logger(std::move(logger));
  std::set_terminate(flush_and_terminate);
}

LoggingScope::~LoggingScope() {
  const std::shared_ptr<spdlog::logger> logger = spdlog::default_logger();
  auto late = std::make_shared<spdlog::logger>(logger->name(),
                                               std::make_shared<spdlog::sinks::stderr_sink_mt>());
  late->set_level(logger->level());
  spdlog::set_default_logger(std::move(late));
  logger->sinks().clear();
  sinks().writer.reset();  // the last owner
}

std::uint64_t dropped_log_lines() {
  return sinks().writer == nullptr ? 0 : sinks().writer->dropped();
}

void end_process() {
  spdlog::default_logger_raw()->flush();
  std::_Exit(EXIT_FAILURE);
}

}  // namespace halite::app
