// Where backups may go.
//
//   Threads  any; blocks.
#pragma once

#include <string>

#include "common/result.h"

namespace halite::app {

// kConflict: `backups`, which need not be there yet, is the data directory or in it, maybe through
// links. They would be in every later backup, and go with what they are to save.
[[nodiscard]] Result<void> check_is_outside(const std::string& backups,
                                            const std::string& data_dir);

}  // namespace halite::app
