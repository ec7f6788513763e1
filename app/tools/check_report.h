// The report of a check, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "storage/tools/check/report.h"
#include "storage/tools/check/scrub.h"

namespace halite::app {

// One line for each damage, the affected data below it, then what was read, and the result.
[[nodiscard]] std::vector<std::string> check_lines(const storage::check::Report& report);

// {"sound":..,"findings":[{"file":..,"offset":..,"what":..,"may_be_torn":..,"hurt":{..}}],..}
[[nodiscard]] std::string check_json(const storage::check::Report& report);

// Like check_json() for an open store, with the progress. "sound" is null until the check has ended
// or has found damage.
[[nodiscard]] std::string scrub_json(const storage::check::ScrubState& state);

// The lines of one damage and of the data that it affects.
[[nodiscard]] std::vector<std::string> finding_lines(const storage::check::Finding& finding);

}  // namespace halite::app
