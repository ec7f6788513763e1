// Counts the series of each metric and the values of each tag key, for status pages.
//
// A count reads the keys of all series, so it runs only on request. Its result is cached; the cache
// time grows with the duration of the count.
//
//   Threads   call from any thread. One caller counts; concurrent callers get the previous result,
//             or wait if there is none.
//   Lifetime  the registry and the clock must outlive it and its running calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "common/clock.h"
#include "common/threads/completion.h"
#include "common/threads/task.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct Cardinality {
  struct Metric {
    std::string name;
    std::uint64_t series = 0;
    std::int64_t grown = 0;  // since grown_since_ms
  };
  struct TagKey {
    std::string name;
    std::uint64_t series = 0;  // number of series with it
    std::uint64_t values = 0;  // number of distinct values
  };

  TimestampMs counted_ms = 0;
  TimestampMs grown_since_ms = 0;  // 1 to 2 hours ago, or the first count
  std::uint64_t series = 0;
  std::vector<Metric> metrics;   // ordered by name
  std::vector<TagKey> tag_keys;  // ordered by name
};

class CardinalityCounter {
 public:
  // Counts on the executor's threads.
  CardinalityCounter(SeriesRegistry& registry, const UidWidths& widths, const Clock& clock,
                     boost::asio::any_io_executor executor);

  // kUnavailable after stop().
  Task<std::shared_ptr<const Cardinality>> counts();

  // Ends a running count early. Call from any thread.
  void stop() { stopped_ = true; }

 private:
  using ByMetric = boost::unordered_flat_map<std::uint64_t, std::uint64_t>;
  struct Past {
    TimestampMs time = 0;
    ByMetric metrics;
  };
  class Tally;
  class Turn;

  Task<std::shared_ptr<const Cardinality>> count();
  Task<void> name_metrics(const Tally* tally, Cardinality* counts);
  Task<void> name_tag_keys(const Tally* tally, Cardinality* counts);
  void remember(TimestampMs now, const ByMetric& metrics);
  [[nodiscard]] bool is_young() const;  // needs mutex_
  [[nodiscard]] Result<void> check_stop() const;

  SeriesRegistry& registry_;
  const UidWidths widths_;
  const Clock& clock_;
  const boost::asio::any_io_executor executor_;
  std::atomic<bool> stopped_ = false;

  // Used only by the counting caller.
  std::optional<Past> base_;  // baseline of the growth
  std::optional<Past> next_;  // baseline from an hour later

  mutable std::mutex mutex_;
  std::shared_ptr<const Cardinality> last_;  // guarded by mutex_
  std::int64_t took_ms_ = 0;                 // guarded by mutex_
  std::optional<Completion> counting_;       // set while a count runs; guarded by mutex_
};

}  // namespace halite::storage
