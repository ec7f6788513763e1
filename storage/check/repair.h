// Sets aside what a data directory holds that cannot be read at all and keeps the server from
// starting, or from answering what is whole. Removes nothing.
//
//   tables that cannot be opened, are cut off or gone   taken out of the manifest, moved aside
//   a log of names with a damaged record inside         copied aside, cut off at that record
//   what was cut off the chunks' manifest and is missed  moved aside
//
// Damaged blocks stay where they are: a server answers all that does not need them. A manifest that
// is damaged inside only a copy can replace.
//
//   Threads  nobody else has the directory open; blocks.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "storage/check/check.h"
#include "storage/check/report.h"

namespace halite::storage::check {

struct Repaired {
  Report before;                       // what the check found
  std::vector<std::string> set_aside;  // what was done, a line each
  std::vector<std::string> left;       // what only a person can do
};

// What is set aside goes into `aside`, which is made when something does.
[[nodiscard]] Result<Repaired> repair_stored(const CheckOptions& options, const std::string& aside);

}  // namespace halite::storage::check
