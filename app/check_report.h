// The report of a check, for people and for scripts.
#pragma once

#include <string>
#include <vector>

#include "storage/tools/check/report.h"
#include "storage/tools/check/scrub.h"

namespace halite::app {

// A line a damage, with what it hurts below it; then what was read, and the verdict.
[[nodiscard]] std::vector<std::string> check_lines(const storage::check::Report& report);

// {"sound":..,"findings":[{"file":..,"offset":..,"what":..,"may_be_torn":..,"hurt":{..}}],..}
[[nodiscard]] std::string check_json(const storage::check::Report& report);

// The same of what checks an open store, with how far it is.
[[nodiscard]] std::string scrub_json(const storage::check::ScrubState& state);

// One damage: its line, and those of what it hurts.
[[nodiscard]] std::vector<std::string> finding_lines(const storage::check::Finding& finding);

}  // namespace halite::app
