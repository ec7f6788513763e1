// Checks where backups may be stored.
//
//   Threads  call from any thread that may block.
#pragma once

#include <string>

#include "common/result.h"

namespace halite::app {

// kConflict: `backups` is in the data directory, perhaps through links. Neither needs to exist yet.
// Every later backup would contain them, and they would be lost with the data.
[[nodiscard]] Result<void> check_is_outside(const std::string& backups,
                                            const std::string& data_dir);

}  // namespace halite::app
