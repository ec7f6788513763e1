#include "app/logging.h"

#include <ctime>
#include <memory>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

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

}  // namespace

std::string log_json(std::string_view time, std::string_view level, std::string_view message) {
  // Text from outside may not be UTF-8; a line must be JSON all the same.
  std::string legal;
  for (const char c : message) legal.push_back(static_cast<unsigned char>(c) < 0x80 ? c : '?');
  return boost::json::serialize(
      boost::json::object{{"time", time}, {"level", level}, {"message", legal}});
}

void set_up_log(const LogOptions& options) {
  auto logger =
      std::make_shared<spdlog::logger>("halite", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (options.format == "json") {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  }
  logger->set_level(spdlog::level::from_str(options.level));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace halite::app
