// The tag keys and values of a metric's series, with the number of series for each.
//
//   Threads   not thread-safe.
//   Lifetime  the names belong to the store. A pin that was acquired before they were looked up
//             outlives this object.
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
    std::vector<Value> values;  // by descending number of series, then by name
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
  // By key id and value id.
  boost::unordered_flat_map<std::pair<std::uint64_t, std::uint64_t>, Count> tags_;
};

// True if the name contains the text, ignoring ASCII case.
[[nodiscard]] bool contains_text(std::string_view name, std::string_view lower_text);

}  // namespace halite::web
