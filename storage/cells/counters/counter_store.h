// Counters: sums of increments by bucket of time, in tables of their own beside the points.
//
// A table for each length of bucket has the rows of OpenTSDB's rollup tables, with one 8-byte sum
// for each series and bucket (docs/formats/counters.md). Increments of one cell that wait together
// become one addition. docs/decisions/0072 has the reasons.
//
//   Metrics  a metric has either points or counters: what came first. A rule reserves its metrics
//            for counters, except those that have points.
//   Exact    an addition is durable and counts once, also after a crash. Increments without a key
//            whose outcome is unknown may have been added.
//   Threads  call from any thread.
//
// Over 140 lines because the store is a sink of increments and a source of sums.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/clock.h"
#include "common/threads/completion.h"
#include "common/threads/semaphore.h"
#include "common/threads/task.h"
#include "common/units.h"
#include "storage/api/point_sink.h"
#include "storage/api/point_store.h"
#include "storage/api/series_iterator.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/counters/counter_metrics.h"
#include "storage/cells/counters/counter_rules.h"
#include "storage/cells/counters/increment_group.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/cells/row_scan.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace halite::storage {

struct CounterLimits {
  // Increments without a waiting client are collected for so long.
  std::int64_t collect_ms = 100;
  std::size_t cells_max = 64 << 10;           // that wait for one write
  std::int64_t ahead_max_ms = 3650 * kDayMs;  // of a time before the clock's
};

class CounterStore final : public PointSink {
 public:
  // References must outlive it.
  struct Dependencies {
    WideColumnStore& store;
    PointStore& points;
    SeriesRegistry& series;
    std::shared_ptr<const OpentsdbLayout> rows;
    RowScanOptions scan;
    std::string data_table;      // of the points; names of tables begin with it
    std::string settings_table;  // contains the metrics that have counters
    const Clock& clock;
    boost::asio::any_io_executor executor;
    prometheus::Registry& registry;
  };

  // Creates the tables of the rules. kConflict: one was made with other widths or salts.
  static Task<std::unique_ptr<CounterStore>> open(Dependencies dependencies, CounterRules rules,
                                                  CounterLimits limits);
  ~CounterStore() override;

  // Replaces the rules, for all increments and queries that begin afterwards. Sums of new buckets
  // begin with the next increment. One call at a time; after an error the old ones stay in use,
  // but sums that the new ones would not keep may be gone.
  Task<void> set_rules(CounterRules rules);

  // As PointSink. Values are increments. A metric that has points is kInvalidArgument, and so are
  // values that are not integers, sums over 64 bits, and times whose buckets are no longer kept.
  Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create) override;
  std::shared_ptr<const SeriesPin> pin_series() override {
    return dependencies_.points.pin_series();
  }
  [[nodiscard]] const Series& series(SeriesId id) const override {
    return dependencies_.points.series(id);
  }
  Task<Accepted> append(PointBatch batch) override;
  void request_sync() override { urgent_.store(true); }

  // The sink of points: the point store, except that it refuses new series of counters.
  [[nodiscard]] PointSink& points();

  // Other processes may have begun to count metrics: refresh() before rule_of().
  [[nodiscard]] bool is_stale() const;
  Task<void> refresh();

  // The rule of a metric with counters; null if it has none.
  [[nodiscard]] const CounterRule* rule_of(std::string_view metric) const {
    return metrics_.rule_of(metric);
  }

  // The sums in one bucket's table; nothing if no increment has made it yet. The sum of all time
  // has the time `all_at`. The source must outlive its scans, and this object the source.
  [[nodiscard]] std::unique_ptr<BlockSource> source(const CounterBucket& bucket,
                                                    TimestampMs all_at) const;

  // Those tsuids whose metrics have counters.
  [[nodiscard]] std::unique_ptr<SeriesIterator> series_among(
      const std::vector<Bytes>& tsuids) const {
    return metrics_.series_among(tsuids, dependencies_.rows->widths().metric);
  }

  // Waits for increments under way.
  Task<void> close();

 private:
  class PointsWithoutCounters;

  CounterStore(Dependencies dependencies, CounterRules rules, CounterLimits limits,
               std::shared_ptr<Table> settings);

  // Opens what the rules need for metrics with these names.
  Task<void> open_tables(const CounterRules& rules, const CounterMetrics::Names& names);
  Task<void> open_table(const CounterRules& rules, const CounterBucket& bucket);
  Task<void> open_table_without_rule();
  [[nodiscard]] std::shared_ptr<Table> table_of(std::string_view bucket) const;  // null: not open
  [[nodiscard]] const CounterRules& rules() const { return *rules_.load(); }
  [[nodiscard]] bool is_shared() const { return dependencies_.scan.shared_tables; }
  Task<bool> has_points(std::string metric);
  Task<void> note_metrics(std::vector<std::string> metrics, bool create);
  // Adds the batch's increments to the group; returns those that are refused.
  [[nodiscard]] std::vector<Refusal> collect(const PointBatch& batch, IncrementGroup& group,
                                             std::vector<TouchedCell>& touched) const;
  Task<void> write(IncrementGroup& group);
  Task<void> write_groups();
  void begin_writing();

  const Dependencies dependencies_;
  // With those that were replaced, which readers may still use. The last ones are in use.
  std::vector<std::unique_ptr<const CounterRules>> all_rules_;
  std::atomic<const CounterRules*> rules_;
  const CounterLimits limits_;
  const std::shared_ptr<Table> settings_;
  CounterMetrics metrics_;
  std::atomic<TimestampMs> refreshed_ms_ = 0;
  const std::unique_ptr<PointsWithoutCounters> points_;
  // Of those who intern series: points together, increments of new metrics alone.
  static constexpr SemaphoreLoad kAlone = {.items = 1'000'000, .bytes = 0};
  const std::shared_ptr<Semaphore> new_metrics_ = std::make_shared<Semaphore>(kAlone);

  mutable std::shared_mutex mutex_;
  // By name of the bucket; guarded by mutex_.
  std::map<std::string, std::shared_ptr<Table>, std::less<>> tables_;

  std::mutex group_mutex_;
  std::shared_ptr<IncrementGroup> group_;  // collects increments; guarded by group_mutex_
  bool writing_ = false;                   // write_groups() runs; guarded by group_mutex_
  std::vector<Completion> idle_;           // finish when it has ended; guarded by group_mutex_
  std::atomic<bool> urgent_ = false;

  prometheus::Counter& increments_;
  prometheus::Counter& cells_;
};

}  // namespace halite::storage
