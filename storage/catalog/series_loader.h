// Loads stored series into memory: the metrics that queries name, and series found in point rows.
// Unloads series that are no longer in use.
//
// For each metric it knows a time: all series with a point at that time or later are in memory. A
// query that begins later loads nothing. Others read all series of the metric, or those with points
// since the query's begin. Concurrent callers share one read.
//
//   Threads   call from any thread. Pin the series table before you call: the results are ids.
//   Lifetime  the arguments of the constructor must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/threads/completion.h"
#include "storage/api/point_store.h"
#include "storage/api/sharding.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/row_layout.h"
#include "storage/cells/layouts/tsuid.h"

namespace halite::storage {

class SeriesLoader {
 public:
  SeriesLoader(Table& rows, UidTable& uids, SeriesTable& table, UidWidths widths,
               const Sharding& sharding);
  SeriesLoader(const SeriesLoader&) = delete;

  // The limits and callbacks of a load.
  struct LoadLimits {
    ReadContext context;  // counts the memory of newly loaded series
    // Called after every few thousand series; its error ends the load. May be empty.
    std::function<Result<void>()> progress;
  };

  // Loads those of the tsuids that have a row in the series table.
  Task<void> load_series(std::vector<Bytes> tsuids, LoadLimits bounds);

  static constexpr TimestampMs kAllTimes = std::numeric_limits<TimestampMs>::min();
  struct Wanted {
    std::uint64_t metric_uid = 0;
    // Only series with a point at this time or later are needed; others may be loaded, too.
    TimestampMs since = kAllTimes;
    // Reads what is loaded again, because other processes may have written.
    bool again = false;
  };
  // Loads the series of a metric that are in the series table. Concurrent callers share one read;
  // after every batch they check its progress and their own limits. Loaded series stay if a load
  // ends early.
  Task<void> load_metric(Wanted wanted, LoadLimits bounds);

  // For a store in which points have series in memory until they are findable by this function: the
  // tsuids of the metric's series with such a point since a time; it may return more.
  using FindSince = std::function<Task<std::vector<Bytes>>(std::uint64_t metric_uid,
                                                           TimestampMs since, ReadContext context)>;
  // Call before all other calls. A metric of which more than `all_max` series are not in memory is
  // loaded only as far as a query needs it.
  void find_since(FindSince find, std::size_t all_max);
  // Says that the points of all series that are not in memory are before this time.
  void unloaded_before(TimestampMs time);

  // Removes those of the series that are still removal candidates from the table. Their rows stay,
  // all are written. The series have no point at `until` or later.
  void unload(std::span<const SeriesId> series, TimestampMs until, SeriesTable::Removed& removed);
  // How often series of the metric were unloaded. A caller that finds the same number before
  // load_metric() or load_series() and after its look-up in the table has missed no series.
  [[nodiscard]] std::uint64_t unloads(std::uint64_t metric_uid) const;
  // All series of any metric with a point at this time or later are in memory. If it is still so
  // after a look into the table, the look has missed none of them.
  [[nodiscard]] TimestampMs all_since() const;

  // Adds series found in stored rows, by tsuid. Reads all unknown names at once.
  Task<std::vector<Result<SeriesId>>> register_stored(std::vector<Bytes> tsuids);

 private:
  class Load;
  using Add = std::function<Result<SeriesId>(const NewSeries&)>;

  // Looks up the names of the series and passes each series to `add`.
  Task<std::vector<Result<SeriesId>>> add_all(std::vector<Bytes> tsuids, Add add);
  Task<bool> adopt_all(std::vector<Bytes> tsuids, std::uint64_t removals, const LoadLimits& bounds);
  Task<void> load_some(std::vector<Bytes> tsuids, const LoadLimits& bounds);
  Task<TimestampMs> read_metric(Wanted wanted, const LoadLimits& bounds, Load& load);
  class Names;
  [[nodiscard]] Result<NewSeries> make_series(const SeriesUids& uids, Bytes tsuid,
                                              const Names& names) const;

  Table& rows_;
  UidTable& uids_;
  SeriesTable& table_;
  const UidWidths widths_;
  const Sharding& sharding_;

  FindSince find_since_;  // may be empty
  std::size_t load_all_max_ = 0;
  struct Loaded {
    TimestampMs since = 0;      // all series with a point at this time or later are in memory
    std::uint64_t load = 0;     // the number of the last successful load; 0 = none
    std::uint64_t unloads = 0;  // unloads()
  };
  [[nodiscard]] Loaded& of_metric(std::uint64_t metric_uid);

  mutable std::mutex mutex_;
  // Of metrics of which nothing is loaded or unloaded yet; guarded by mutex_.
  TimestampMs known_since_ = std::numeric_limits<TimestampMs>::max();
  // Loads are numbered from 1. Both maps are by metric uid. All guarded by mutex_.
  std::uint64_t loads_begun_ = 0;
  boost::unordered_flat_map<std::uint64_t, Loaded> loaded_;
  std::map<std::uint64_t, Completion> loading_;  // running loads; completes with the current batch
};

}  // namespace halite::storage
