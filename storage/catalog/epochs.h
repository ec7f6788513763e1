// Decides when the id of a removed series may be assigned again. The whole protocol:
//
// Id     A SeriesId is the number of a slot in a SeriesTable. It is on disk only in the write-ahead
//        log, with its definition; a process that continues with the head of the log continues
//        these ids (tsdb/recovery/). After the series is removed, the slot serves another series.
//        The id alone does not show that. An id of a removed series is *stale* once its slot is
//        freed.
// Pin    A SeriesPin counts its holder in an epoch. It does not list ids. It keeps valid every id,
//        Series and name that its holder finds after the pin was acquired, also if the series is
//        removed meanwhile. It does not prevent the removal.
//
// Order, for code that obtains ids:
//   1. acquire a pin;  2. find ids: intern, select, look up, read a cache;
//   3. use them, also across suspensions;  4. release the pin.
// A pin that is acquired after the ids were found keeps nothing.
//
// Order, for the two that remove, one at a time: the garbage collection
// (tsdb/maintenance/series_gc.h), and the unloading of series that get no points
// (series_unloader.h there), which leaves rows and points:
//   1. mark series as removal candidates; any use ends that, also a selection for a query;
//   2. advance(), then wait until released_before() it: the effects of all older holders, for
//      example points on their way, are visible. Series that are still candidates are not in use;
//   3. remove them: rows first, unless they stay, then from the table. No lookup finds them from
//      now on; holders of older pins may still use the ids that they have;
//   4. advance(), wait until released_before(): no holder can have one of the ids;
//   5. SeriesTable::reclaim(): the slots are free.
// Names follow the same order (name_gc.h), with advance(false): no id changes its meaning.
//
// What pins:
//   - PinnedSeries and its relatives (storage/api/pinned_series.h): what intern(), lookup() and
//     last() of a point store return. The answer contains the pin.
//   - RowSelection: queries, estimates and deletes, until the last block is used.
//   - ingest's IngestBatch: from before the series cache is read until the store has the points.
//   - CardinalityCounter while it counts; and, for names, whoever calls UidTable::pin(): handlers
//     and metadata that show them.
// What keeps ids without a pin, and why that is safe:
//   - Heads. A series with a point in a head is not a candidate after step 1. Log records of a
//     freed id are older than the last flush, and replay does not read them. So an id has one
//     meaning in all records that a replay reads.
//   - SeriesRegistry's list of series without a row: it is written before step 3.
//   - ingest's SeriesCache: reader() takes a pin and removes all keys that are older than the
//     pin's `series_epoch`.
//   - NewestPoints forgets the ids in step 5. ActiveSeries may contain stale ids, but is only
//     intersected with ids that a selection found. A set counts as complete until the next unload,
//     because series that are loaded again get new ids.
//   - TsTracker, rollups and histograms keep ids for ever. With them no series is removed.
//   - The maintenance thread itself: no step runs between its look-up and its use.
//
// Builds with HALITE_CHECK_SERIES_IDS (cmake/compiler.cmake: debug and sanitizer builds) stop the
// process at the use of a stale id: storage/catalog/series_page.h.
//
//   Threads  call from any thread; advance() from the maintenance thread. A pin may outlive this
//            object and may be released on any thread.
//   Cost     acquiring and releasing a pin: one mutex and one reference count.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "storage/api/series.h"

namespace halite::storage {

class Epochs {
 public:
  Epochs();

  // A pin of the current epoch.
  [[nodiscard]] std::shared_ptr<const SeriesPin> pin() const;

  // Begins an epoch. Its pins see all changes made before this call. `series_go`: series were
  // removed, so results about ids from earlier epochs are stale.
  std::uint64_t advance(bool series_go = true);

  // Whether all pins of earlier epochs are released; then the effects of their owners are visible.
  [[nodiscard]] bool released_before(std::uint64_t epoch) const;

 private:
  // Pins may outlive the object.
  struct Shared {
    std::mutex mutex;
    std::set<std::uint64_t> pinned;  // epochs; guarded by mutex
  };
  [[nodiscard]] std::shared_ptr<const SeriesPin> make(SeriesPin pin) const;

  const std::shared_ptr<Shared> shared_;
  mutable std::mutex mutex_;
  std::shared_ptr<const SeriesPin> current_;  // guarded by mutex_
};

}  // namespace halite::storage
