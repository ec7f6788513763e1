// Sets aside what a data directory holds that cannot be read at all and keeps the server from
// starting, or from answering what is whole. Removes nothing.
//
//   tables that cannot be opened, are cut off or gone   taken out of the manifest, moved aside
//   a log of names with a damaged record inside         copied aside, cut off at that record;
//                                                       logs behind it moved aside
//   what was cut off the chunks' manifest and is missed  moved aside
//
// Damaged blocks stay where they are: a server answers all that does not need them. A manifest that
// is damaged inside only a copy can replace.
//
// A file is in its new place, for good, before anything stops naming it: after a power cut it is in
// one of both, or in both.
//
//   Threads  nobody else has the directory open; blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/tools/check/check.h"
#include "storage/tools/check/report.h"

namespace halite::storage::check {

struct RepairReport {
  Report before;                       // what the check found
  std::vector<std::string> set_aside;  // what was done, a line each
  std::vector<std::string> left;       // what only a person can do
  std::optional<Error> ended_by;       // what kept it from doing the rest
};

// What is set aside goes into `aside`, which is made when something does. An error: nothing was
// changed, for the check could not be made.
[[nodiscard]] Result<RepairReport> repair_stored(const CheckOptions& options,
                                                 const std::string& aside);

}  // namespace halite::storage::check
