// Empties expired regions of a ring in HBase before they are used again: requests major compactions
// from their servers, in quiet hours, a few at a time. A compaction of an expired region writes
// nothing; its files are just removed.
//
// Several processes may do this for one table: one finds empty what another had compacted.
//
//   Lifetime  All references outlive it.
//   Threads   One look() at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/regions/region_plan.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace halite::storage {

struct RegionCompactorOptions {
  std::int64_t interval_ms = 600'000;  // between two runs
  std::uint32_t regions_at_once = 4;   // requested in one run
  // The hours of the day, UTC, in which compactions run: first included, last excluded. If the last
  // is smaller, they span midnight. Equal: at any time.
  std::uint32_t hour_begin = 1;
  std::uint32_t hour_end = 5;
};

// Whether compactions may run at this time.
[[nodiscard]] bool is_quiet(TimestampMs now, const RegionCompactorOptions& options);

class RegionCompactor {
 public:
  struct Dependencies {
    hbase::Client& client;
    std::string table;  // its full name
    std::shared_ptr<const CyclicLayout> layout;
    CellLifetime life;
    const Clock& clock;
    prometheus::Registry& registry;
  };
  RegionCompactor(Dependencies dependencies, RegionCompactorOptions options);

  // Requests the compactions that are due, at any hour; returns the number of regions.
  Task<std::uint32_t> look();

  [[nodiscard]] bool quiet() const { return is_quiet(dependencies_.clock.now_ms(), options_); }
  [[nodiscard]] const RegionCompactorOptions& options() const { return options_; }

 private:
  const Dependencies dependencies_;
  const RegionCompactorOptions options_;
  prometheus::Counter& asked_;
};

}  // namespace halite::storage
