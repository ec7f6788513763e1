// Which sums a counter has: one for each bucket of time, and how long each is kept.
//
//   [{"metrics":"web.*","buckets":["1h","1d","all"],"keep":["14d","400d","0"]}]
//
// A counter without a rule has buckets of a minute, kept as long as points are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "storage/cells/layouts/rollup_cell.h"

namespace halite::storage {

struct CounterBucket {
  std::string name;            // "1h"; "all" = one sum of all time
  std::int64_t length_ms = 0;  // divides a day; 0 = all time
  std::int64_t keep_ms = 0;    // since the beginning of the bucket; 0 = forever
  RollupInterval rows;         // the rows of its table

  // The beginning of the bucket with this time, which is at least 0.
  [[nodiscard]] TimestampMs begin_of(TimestampMs time) const {
    return length_ms == 0 ? 0 : time - time % length_ms;
  }
  [[nodiscard]] bool expired(TimestampMs begin, TimestampMs now) const {
    return keep_ms != 0 && length_ms != 0 && begin + length_ms + keep_ms <= now;
  }
};

struct CounterRule {
  std::string metrics;                 // a name, or a prefix and '*'
  std::vector<CounterBucket> buckets;  // shortest first; never empty
};

class CounterRules {
 public:
  // `keep_ms`: of counters without a rule; 0 = forever.
  explicit CounterRules(std::int64_t keep_ms);

  // Reads the JSON above; an empty text has no rules. kInvalidArgument describes the error.
  [[nodiscard]] static Result<CounterRules> parse(std::string_view json, std::int64_t keep_ms);

  // The rule of a metric: that with its name, otherwise that with the longest prefix. Null: none.
  [[nodiscard]] const CounterRule* find(std::string_view metric) const;
  // The buckets of counters without a rule.
  [[nodiscard]] const CounterRule& without_rule() const { return without_rule_; }
  [[nodiscard]] const std::vector<CounterRule>& rules() const { return rules_; }

 private:
  std::vector<CounterRule> rules_;
  CounterRule without_rule_;
};

}  // namespace halite::storage
