// The result of a check.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/data_point.h"

namespace halite::storage::check {

// The data that a damage makes unavailable or unreliable.
struct Impact {
  std::string what = {};  // "points", "names", ...
  std::vector<std::string> series =
      {};                        // as m{host=a}; the first of the series that may be affected
  std::uint64_t series_max = 0;  // upper bound of affected series
  std::optional<TimeRange> times = {};  // no other times are affected; ms, end excluded
};

struct Finding {
  std::string file = {};                     // path of a file or directory
  std::optional<std::uint64_t> offset = {};  // of the first wrong byte
  std::string what = {};
  // It may be a torn write: unfinished at a power cut and never acknowledged. The next start cuts
  // it off.
  bool may_be_torn = false;
  bool wants_copy = false;            // only a backup can replace it
  std::optional<Impact> impact = {};  // nothing: it affects no data
};

struct Report {
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // traces of earlier damage
  std::uint64_t files = 0;         // read completely
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;   // decoded
  std::uint64_t points = 0;   // in those chunks
  std::uint64_t records = 0;  // of the write-ahead log
  std::uint64_t series = 0;   // known to the names
};

}  // namespace halite::storage::check
