// What a check of a data directory has found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/data_point.h"

namespace halite::storage::check {

// What cannot be had, or not be believed, because of a damage.
struct Impact {
  std::string what = {};  // "points", "names", ...
  std::vector<std::string> series =
      {};                               // as m{host=a}; the first so many of those that may be hurt
  std::uint64_t series_max = 0;         // no more than so many are
  std::optional<TimeRange> times = {};  // no other times are; ms, end excluded
};

struct Finding {
  std::string file = {};                     // path of a file, or of a directory
  std::optional<std::uint64_t> offset = {};  // of the first byte that is not as it was written
  std::string what = {};
  // It may be what a power cut left of a write that nobody was told is safe. The next start cuts it
  // off.
  bool may_be_torn = false;
  bool wants_copy = false;            // a part is gone that nothing but a copy has
  std::optional<Impact> impact = {};  // nothing = nothing that anybody asks for
};

struct Report {
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // no damage: what is left of earlier ones
  std::uint64_t files = 0;         // read wholly
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;   // decoded
  std::uint64_t points = 0;   // in those
  std::uint64_t records = 0;  // of the log
  std::uint64_t series = 0;   // that the names know
};

}  // namespace halite::storage::check
