// Applies changed [[counters]] and [[views]] of the settings file while the server runs.
//
// Views whose totals would be deleted go when the file has been unchanged for some seconds.
//
//   Errors    a file that cannot be read, or has an error in any setting, changes nothing; the log
//             says why, and every check tries again.
//   Lifetime  the stores outlive it.
#pragma once

#include <cstdint>
#include <string>

#include "app/settings/options.h"
#include "app/stores/stores.h"
#include "common/file_reloader.h"

namespace halite::app {

class RulesReloader {
 public:
  // `started`: the options with which the stores were opened. Begins at once.
  RulesReloader(const Options& started, SettingsFile file, Stores& stores);

 private:
  [[nodiscard]] Result<void> apply(const Options& fresh, std::int64_t file_age_s);

  Stores& stores_;
  std::string counters_;  // the rules in use, for the thread of file_
  std::string views_;
  FileReloader<const Options> file_;  // last: its thread uses the others
};

}  // namespace halite::app
