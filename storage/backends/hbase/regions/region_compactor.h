// Sees to it that regions of a ring in HBase that are dead are empty before they are used again:
// asks their servers for a major compaction, in quiet hours, a few at a time. It writes nothing of
// a dead region: its files just go.
//
// Any number of processes may do so for one table: what one has had compacted, others find empty.
//
//   Life     what the parts refer to outlives it.
//   Threads  one look at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/clock.h"
#include "common/task.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/regions/region_plan.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace halite::storage {

struct RegionCompactorOptions {
  std::int64_t interval_ms = 600'000;  // between two looks at the regions
  std::uint32_t regions_at_once = 4;   // asked for in one look
  // Hours of the day, UTC, in which servers are asked: from the first, included, to the last,
  // excluded, over midnight where that is smaller. Equal: at any time.
  std::uint32_t hour_begin = 1;
  std::uint32_t hour_end = 5;
};

// Is this an hour for it?
[[nodiscard]] bool is_quiet(TimestampMs now, const RegionCompactorOptions& options);

class RegionCompactor {
 public:
  struct Dependencies {
    hbase::Client& client;
    std::string table;  // its whole name
    std::shared_ptr<const CyclicLayout> layout;
    CellLifetime life;
    const Clock& clock;
    prometheus::Registry& registry;
  };
  RegionCompactor(Dependencies dependencies, RegionCompactorOptions options);

  // Asks for the compactions that are due, whatever the hour; returns of how many regions.
  Task<std::uint32_t> look();

  [[nodiscard]] bool quiet() const { return is_quiet(dependencies_.clock.now_ms(), options_); }
  [[nodiscard]] const RegionCompactorOptions& options() const { return options_; }

 private:
  const Dependencies dependencies_;
  const RegionCompactorOptions options_;
  prometheus::Counter& asked_;
};

}  // namespace halite::storage
