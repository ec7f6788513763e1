// Which views exist: what each keeps of which metrics.
//
//   [{"name":"cpu-by-dc","metrics":"cpu.*","interval":"5m","functions":["sum","count"],
//     "group_by":["dc"],"keep":"2y"}]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite::storage {

// The stored functions. Counts are always stored.
struct ViewFunctions {
  bool sum = false;
  bool min = false;
  bool max = false;
  bool sketch = false;  // for all percentiles
  bool operator==(const ViewFunctions&) const = default;
};

struct ViewRule {
  std::string name;
  std::string metrics;           // a name, or a prefix and '*'
  std::int64_t interval_ms = 0;  // of a bucket: divides an hour, or hours that divide a day
  ViewFunctions functions;
  std::vector<std::string> percentiles = {};  // those of the functions, as written: "p99"
  // The tags that groups keep, sorted; the series of a group are added up. nullopt: all tags, so
  // each series is a group.
  std::optional<std::vector<std::string>> group_by;
  std::int64_t keep_ms = 0;  // 0 = forever

  [[nodiscard]] bool covers(std::string_view metric) const;

  // A unit is computed as a whole: an hour, or one bucket if that is longer.
  [[nodiscard]] std::int64_t unit_ms() const;

  // What decides the stored bytes. A view with another definition is computed anew.
  [[nodiscard]] std::string definition() const;
};

// Reads the JSON above; an empty text has no rules. kInvalidArgument describes the error.
[[nodiscard]] Result<std::vector<ViewRule>> parse_view_rules(std::string_view json);

}  // namespace halite::storage
