// Which tag keys the series of a metric have, and which values, with the number of series of each.
//
//   Threads   for one at a time.
//   Lifetime  the names are the store's: a hold on its series from before they were asked for
//             outlives it.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/api/series.h"

namespace halite::web {

class TagCardinality {
 public:
  void add(const storage::Series& series);

  struct Value {
    std::string_view name;
    std::uint64_t series = 0;
  };
  struct Key {
    std::string_view name;
    std::uint64_t series = 0;
    std::vector<Value> values;  // most series first, then by name
  };
  [[nodiscard]] std::vector<Key> keys() const;  // by name
  [[nodiscard]] std::uint64_t series() const { return series_; }

 private:
  struct Count {
    std::string_view key;
    std::string_view value;
    std::uint64_t series = 0;
  };
  std::uint64_t series_ = 0;
  // By the ids of a key and a value.
  boost::unordered_flat_map<std::pair<std::uint64_t, std::uint64_t>, Count> tags_;
};

// Whether a name has the text in it, upper and lower case of ASCII being the same.
[[nodiscard]] bool contains_text(std::string_view name, std::string_view lower_text);

}  // namespace halite::web
