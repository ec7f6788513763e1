// The process's log: spdlog's default logger, which app/ configures once as text or JSON lines.
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
