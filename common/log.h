// The process's log: spdlog's default logger, set up once by app/ as text or JSON lines.
//   log::info("listening on {}", address);
#pragma once

#include <spdlog/spdlog.h>

namespace halite::log {

using spdlog::critical;
using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

}  // namespace halite::log
