// Sets up the process's log: standard error, as text or one JSON object a line.
#pragma once

#include <string>

#include "app/options.h"

namespace halite::app {

void set_up_log(const LogOptions& options);

// One JSON object without its line end: {"time":"...","level":"...","message":"..."}.
[[nodiscard]] std::string log_json(std::string_view time, std::string_view level,
                                   std::string_view message);

}  // namespace halite::app
