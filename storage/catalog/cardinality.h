// How many series each metric has, and how many values each tag key: for people who look around.
//
// Counting goes through the keys of all series, so it is done when somebody asks, and what it gave
// is given again for some time: the longer, the longer it took.
//
//   Threads   any call from any thread. Of those who ask at the same time one counts; the others
//             get what was counted before, or wait where there is nothing yet.
//   Lifetime  the registry and the clock outlive it and what is under way.
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
#include "common/completion.h"
#include "common/task.h"
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
    std::uint64_t series = 0;  // that have it
    std::uint64_t values = 0;  // distinct ones
  };

  TimestampMs counted_ms = 0;
  TimestampMs grown_since_ms = 0;  // an hour or two back, or when it was counted first
  std::uint64_t series = 0;
  std::vector<Metric> metrics;   // by name
  std::vector<TagKey> tag_keys;  // by name
};

class CardinalityCounter {
 public:
  // It counts on the executor's threads.
  CardinalityCounter(SeriesRegistry& registry, const UidWidths& widths, const Clock& clock,
                     boost::asio::any_io_executor executor);

  // kUnavailable once it was stopped.
  Task<std::shared_ptr<const Cardinality>> counts();

  // Counting under way ends early. From any thread.
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
  [[nodiscard]] bool is_young() const;  // mutex_ is held
  [[nodiscard]] Result<void> check_stop() const;

  SeriesRegistry& registry_;
  const UidWidths widths_;
  const Clock& clock_;
  const boost::asio::any_io_executor executor_;
  std::atomic<bool> stopped_ = false;

  // Only who counts uses these.
  std::optional<Past> base_;  // what growth is told from
  std::optional<Past> next_;  // the base of an hour later

  mutable std::mutex mutex_;
  std::shared_ptr<const Cardinality> last_;  // guarded by mutex_
  std::int64_t took_ms_ = 0;                 // guarded by mutex_
  std::optional<Completion> counting_;       // somebody is at it; guarded by mutex_
};

}  // namespace halite::storage
