// Loads stored series into memory: the metrics that queries name, and series found in point rows.
//
// The first query of a metric reads all its series. Concurrent callers share one read.
//
//   Threads   call from any thread. Pin the series table before you call: the results are ids.
//   Lifetime  the arguments of the constructor must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
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

// A series of a log and its id there.
struct LoggedSeries {
  SeriesId id = 0;
  Bytes tsuid;
};

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

  // Loads every series of the metric that is in the series table. Reads a loaded metric again only
  // if `again` is set, because other processes may have written. Concurrent callers share one read;
  // after every batch they check its progress and their own limits. Loaded series stay if a load
  // ends early.
  Task<void> load_metric(std::uint64_t metric_uid, bool again, LoadLimits bounds);

  // Adds series found in stored rows, by tsuid. Reads all unknown names at once.
  Task<std::vector<Result<SeriesId>>> register_stored(std::vector<Bytes> tsuids);

  // Adds series under their ids; see SeriesTable::restore(). kNotFound: a name is missing.
  Task<void> restore(std::vector<LoggedSeries> series);

 private:
  class Load;
  using Add = std::function<Result<SeriesId>(const NewSeries&)>;

  // Looks up the names of the series and passes each series to `add`.
  Task<std::vector<Result<SeriesId>>> add_all(std::vector<Bytes> tsuids, Add add);
  Task<bool> adopt_all(std::vector<Bytes> tsuids, std::uint64_t removals, const LoadLimits& bounds);
  Task<void> load_some(std::vector<Bytes> tsuids, const LoadLimits& bounds);
  Task<void> read_metric(std::uint64_t metric_uid, const LoadLimits& bounds, Load& load);
  class Names;
  [[nodiscard]] Result<NewSeries> make_series(const SeriesUids& uids, Bytes tsuid,
                                              const Names& names) const;

  Table& rows_;
  UidTable& uids_;
  SeriesTable& table_;
  const UidWidths widths_;
  const Sharding& sharding_;

  std::mutex mutex_;
  // Loads are numbered from 1. Both maps are by metric uid. All guarded by mutex_.
  std::uint64_t loads_begun_ = 0;
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> loaded_;  // the last successful load
  std::map<std::uint64_t, Completion> loading_;  // running loads; completes with the current batch
};

}  // namespace halite::storage
