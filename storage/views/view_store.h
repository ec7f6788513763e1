// Views: totals of points by bucket of time, which always equal the points.
//
// A query reads stored totals where they are up to date, and points elsewhere. build_some()
// computes totals some time after their points came, and again after points changed.
// docs/decisions/0076 has the reasons, docs/formats/views.md the bytes.
//
//   Writers   change points through points() only. Otherwise totals become wrong.
//   Threads   call from any thread. build_some() and set_rules() wait for each other.
//   Lifetime  it outlives its sources and running calls.
//
// Over 140 lines because writers, readers and the builder of a view must fit together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/threads/semaphore.h"
#include "common/threads/task.h"
#include "storage/api/point_store.h"
#include "storage/api/series_iterator.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/views/totals_sink.h"
#include "storage/views/view_changes.h"
#include "storage/views/view_rules.h"
#include "storage/views/view_source.h"
#include "storage/views/view_table.h"
#include "storage/views/view_totals.h"
#include "storage/views/watched_points.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace halite::storage {

struct ViewLimits {
  std::int64_t settle_ms = 60'000;      // a unit is computed so long after its end
  std::size_t bytes_max = 256 << 20;    // of totals in memory
  std::uint32_t metrics_max = 100'000;  // of all views
};

// How much of a view is computed, for display.
struct ViewStatus {
  ViewRule rule;
  std::uint64_t metrics = 0;
  std::uint64_t units_built = 0;
  // At the last look: not built, or changed since.
  std::uint64_t units_waiting = 0;
  // Since the end of the newest computed unit, of the metric for which this is longest; nullopt: no
  // metric has one.
  std::optional<std::int64_t> lag_ms = {};
  // For what waits, at the speed since it began to wait; nullopt: nothing waits or is computed.
  std::optional<std::int64_t> time_left_ms = {};
  RangeEstimate stored = {};  // as Table::estimate()
  std::string building = {};  // the metric and day that is computed now; empty: none
  std::string error = {};     // of the last attempt; empty: none
};

class ViewStore {
 public:
  struct Dependencies {
    WideColumnStore& store;  // not shared with other processes
    PointStore& points;
    UidTable& uids;
    UidWidths widths;
    std::string table;
    const Clock& clock;
    std::function<std::int64_t(std::string_view metric)> ttl_ms;  // of points; 0 = forever
    prometheus::Registry& registry;
    TotalsSink* sink = nullptr;  // null: totals go into the table
  };

  // Loads which units are built. With `read_only`, nothing is written and new views do not exist.
  static Task<std::unique_ptr<ViewStore>> open(Dependencies dependencies,
                                               std::vector<ViewRule> rules, ViewLimits limits,
                                               bool read_only);
  ~ViewStore();

  // Replaces the rules. kOverloaded: build_some() needs long; try again. A view whose name and
  // definition stay keeps its totals. After an error the previous rules are in use, but totals of
  // views that should go may be gone after a restart.
  Task<void> set_rules(std::vector<ViewRule> rules);

  // The points, for all who change them; see watched_points.h.
  [[nodiscard]] PointStore& points() { return points_; }

  // The views of a metric. Views do not change while the result lives.
  [[nodiscard]] std::vector<std::shared_ptr<const View>> views_of(std::string_view metric) const;

  // How much of the range can be read from stored totals: 0 to 1.
  Task<double> stored_part(const View& view, std::string metric, TimeRange range);
  // Points of the metric before this time have expired; 0: none expire.
  [[nodiscard]] TimestampMs kept_from(std::string_view metric) const;
  // The view's totals; see view_source.h.
  [[nodiscard]] std::unique_ptr<BlockSource> source(std::shared_ptr<const View> view,
                                                    std::string_view metric);

  // Computes some units. False: nothing to do now.
  Task<bool> build_some();
  // Computes all units of a view anew, in the background. kNotFound: there is no such view.
  Task<void> rebuild(std::string name);

  // With a sink: the metrics (uids) that the views know, and times of metrics whose points other
  // processes changed. Their units are computed anew.
  [[nodiscard]] std::vector<Bytes> known_metrics() const { return changes_.metrics(); }
  Task<void> note_changes(std::vector<ViewChanges::Change> changes);

  Task<std::vector<ViewStatus>> status();

  // The tsuids of all groups, whose names must stay.
  [[nodiscard]] std::unique_ptr<SeriesIterator> groups() { return table_.all_groups(); }

 private:
  using Views = std::vector<std::shared_ptr<const View>>;
  struct MetricWork {
    Bytes uid;
    Views views;
    std::int64_t units_max = 0;  // to compute together, as far as memory suffices; 0: all of a day
  };
  // The units of one day to compute.
  struct DayWork {
    std::string metric;
    Bytes uid;
    Day day = 0;
    std::vector<std::pair<std::shared_ptr<const View>, UnitRange>> parts;

    [[nodiscard]] std::int64_t units() const;
    void keep(std::int64_t units_max);  // drops the others
  };

  ViewStore(Dependencies dependencies, std::shared_ptr<Table> table, ViewLimits limits,
            bool read_only);

  // So long ago; the beginning of time if it is 0, which means forever.
  [[nodiscard]] TimestampMs ago(std::int64_t time_ms) const;
  [[nodiscard]] Views views() const;
  Task<void> write_rules(std::span<const StoredView> gone, std::span<const ViewRule> fresh,
                         ViewId next_id, bool any);
  void publish(Views views);
  Task<bool> build_next();
  Task<void> clear_removed();
  Task<void> find_metrics();
  Task<void> find_oldest(const View& view, const std::string& metric, const Bytes& uid);
  Task<std::shared_ptr<const Selection>> select(std::string metric, Bytes uid, TimestampMs since);
  Task<Day> first_day(std::string metric, Bytes uid);
  Task<TimestampMs> first_time(std::string metric, Bytes uid, TimestampMs end);
  Task<void> drop_old(const View& view, const Bytes& uid);
  [[nodiscard]] std::optional<DayWork> find_work(const std::string& metric, const MetricWork& work);
  Task<bool> build_metric(const std::string& metric, MetricWork& work);
  Task<void> build(const DayWork& work);
  Task<std::vector<GroupTotals>> totals_of(const DayWork& work);
  Task<std::vector<StoredDay>> rows_of(const View& view, const DayWork& work, UnitRange units,
                                       const GroupTotals& totals);
  void note_units(const View& view, const std::string& metric, const std::vector<bool>& built,
                  UnitRange units);
  [[nodiscard]] ViewStatus status_of(const View& view) const;
  void note(const Views& views, std::string_view building, std::string_view error);

  const Dependencies dependencies_;
  const ViewLimits limits_;
  const bool read_only_;
  ViewTable table_;
  ViewChanges changes_;
  WatchedPoints points_;

  mutable std::mutex mutex_;
  Views views_;  // guarded by mutex_
  struct MetricProgress {
    std::uint64_t waiting = 0;       // units
    TimestampMs computed_until = 0;  // the end of the newest computed unit; 0: none
  };
  struct Progress {
    std::map<std::string, MetricProgress, std::less<>> metrics;
    std::uint64_t waiting = 0;  // units of all metrics
    // Since the first unit after nothing waited.
    TimestampMs began_ms = 0;
    std::uint64_t computed = 0;
    std::string building;
    std::string error;
  };
  std::map<std::string, Progress, std::less<>> progress_;  // by name of the view; guarded by mutex_

  // The rest is for the holder of the turn: build_some() or set_rules().
  const std::shared_ptr<Semaphore> turn_ = std::make_shared<Semaphore>(SemaphoreLoad{1, 1});
  std::map<ViewId, std::weak_ptr<const View>> removed_;  // queries may still read them
  std::map<std::string, MetricWork> metrics_;
  std::string last_metric_;
  TimestampMs found_ms_ = 0;
  std::map<std::pair<ViewId, Bytes>, TimestampMs> dropped_ms_;

  prometheus::Counter& units_computed_;
  prometheus::Counter& points_read_;
};

}  // namespace halite::storage
