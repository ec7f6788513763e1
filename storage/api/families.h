// What senders say about metrics, by metric family, as Prometheus' protocols have it. A family need
// not be a metric: x is the family of x_bucket, x_sum and x_count.
#pragma once

#include <map>
#include <string>

namespace halite::storage {

// An empty text is not known.
struct FamilyFields {
  std::string type;  // "counter", "gauge", "histogram", "summary", ..
  std::string unit;
  std::string help;
  bool operator==(const FamilyFields&) const = default;
};

using Families = std::map<std::string, FamilyFields, std::less<>>;

}  // namespace halite::storage
