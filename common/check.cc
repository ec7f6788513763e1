#include "common/check.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "common/log.h"

namespace halite {

void check_failed(const char* condition, std::string_view why, const char* file, int line) {
  fmt::print(stderr, "internal error at {}:{}: {} ({})\n", file, line, condition, why);
  // Earlier log lines may still be queued. The log's writer limits this wait.
  if (spdlog::logger* const logger = spdlog::default_logger_raw()) logger->flush();
  std::abort();
}

}  // namespace halite
