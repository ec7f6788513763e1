// Moves aside unreadable files that prevent a start or the reading of undamaged data. Removes
// nothing.
//
//   table files that are unopenable, truncated or missing   removed from RocksDB's manifest, moved
//                                                           aside
//   a log of names with a damaged record inside             copied aside, truncated before that
//                                                           record; later logs are moved aside
//   the cut-off end of the chunks' manifest, if needed      moved aside
//
// Damaged blocks stay: the server answers all queries that do not need them. Only a backup can
// replace a manifest that is damaged inside.
//
// A file is durably in its new place before anything stops referring to the old one. After a power
// cut it is in one of the two places, or in both.
//
//   Threads  nothing else has the directory open; blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/tools/check/check.h"
#include "storage/tools/check/report.h"

namespace halite::storage::check {

struct RepairReport {
  Report before;                       // the findings of the check
  std::vector<std::string> set_aside;  // one line for each action
  std::vector<std::string> left;       // what you must do yourself
  std::optional<Error> ended_by;       // the error that stopped the repair, if any
};

// Moves files into `aside`, which is created on demand. An error means that the check failed and
// nothing was changed.
[[nodiscard]] Result<RepairReport> repair_stored(const CheckOptions& options,
                                                 const std::string& aside);

}  // namespace halite::storage::check
