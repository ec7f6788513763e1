#include "common/check.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "common/log.h"

namespace halite {

void check_failed(const char* condition, std::string_view why, const char* file, int line) {
  fmt::print(stderr, "internal error at {}:{}: {} ({})\n", file, line, condition, why);
  // What led here may still wait to be written; whatever writes the log bounds this wait.
  if (spdlog::logger* const logger = spdlog::default_logger_raw()) logger->flush();
  std::abort();
}

}  // namespace halite
