// The version of this build.
#pragma once

#include <string>

#include "web/server.h"

namespace halite::app {

[[nodiscard]] std::string version_line();       // "halite 0.1.0 (revision 1a2b3c4)"
[[nodiscard]] web::VersionInfo version_info();  // for /api/version

}  // namespace halite::app
