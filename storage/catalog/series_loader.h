// Series that have a row, into memory: those that a question names, and those met in stored rows.
//
// A metric's series are read together when a question first names it. Of those who ask at the same
// time one reads.
//
//   Threads   any call from any thread. The ids want their caller to hold those of the series
//             table.
//   Lifetime  all that it was made with outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/completion.h"
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
  SeriesLoader& operator=(const SeriesLoader&) = delete;

  // What a load may cost and who follows it.
  struct LoadLimits {
    ReadContext context;  // counts the memory of series that were not in memory before
    // Called after some thousands of series at a time; its error ends the load. May be empty.
    std::function<Result<void>()> progress;
  };

  // Takes into memory those of these tsuids that have a row in the series table.
  Task<void> load_series(std::vector<Bytes> tsuids, LoadLimits bounds);

  // Afterwards every series of the metric that was in the series table is in memory. A metric
  // that was loaded is not read again unless `again`: others may have written meanwhile. Of those
  // who ask at the same time one reads; the others see how far it came, and whether they still
  // want it, after every batch. What was loaded stays, also when a load ends early.
  Task<void> load_metric(std::uint64_t metric_uid, bool again, LoadLimits bounds);

  // Series met in stored rows, by tsuid; all unknown names are read at once.
  Task<std::vector<Result<SeriesId>>> register_stored(std::vector<Bytes> tsuids);

 private:
  class Load;

  // register_stored() for rows read when the table's removals() was so many: kConflict for a series
  // that may have gone since.
  Task<std::vector<Result<SeriesId>>> adopt_read(std::vector<Bytes> tsuids,
                                                 std::optional<std::uint64_t> removals);
  Task<bool> adopt_all(std::vector<Bytes> tsuids, std::uint64_t removals, const LoadLimits& bounds);
  Task<void> load_some(std::vector<Bytes> tsuids, const LoadLimits& bounds);
  Task<void> read_metric(std::uint64_t metric_uid, const LoadLimits& bounds, Load& load);
  [[nodiscard]] Result<NewSeries> make_series(const SeriesUids& uids, Bytes tsuid);

  Table& rows_;
  UidTable& uids_;
  SeriesTable& table_;
  const UidWidths widths_;
  const Sharding& sharding_;

  std::mutex mutex_;
  // Loads are numbered from 1 in the order they begin. By metric uid; all guarded by mutex_.
  std::uint64_t loads_begun_ = 0;
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> loaded_;  // the last that succeeded
  std::map<std::uint64_t, Completion> loading_;  // under way: finishes with the batch at work
};

}  // namespace halite::storage
