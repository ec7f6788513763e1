// Series and their ids: made from names on first sight, found again after a restart.
//
// Each series has a row in the series table (key = its tsuid, one empty cell; see
// docs/formats/names-and-series.md), written before the series' first point, or before the first
// one that is nowhere but in rows and chunks (see defer()). Nothing is read at start-up: a metric's
// series are read together when a question first names it. So a start takes as long with ten
// million series as with ten, and long dead ones cost memory only when somebody asks for their
// metric.
//
//   Threads  any call from any thread; defer() before any other. What takes or gives ids wants its
//            caller to hold those of table().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/backlog.h"
#include "common/completion.h"
#include "storage/interning.h"
#include "storage/point_store.h"
#include "storage/schema/row_layout.h"
#include "storage/schema/tsuid.h"
#include "storage/schema/uid_table.h"
#include "storage/series_table.h"
#include "storage/sharding.h"

namespace halite::storage {

[[nodiscard]] TableSpec series_table_spec(std::string name);

// Rows for series that have none, or have one already. Durable when it returns.
[[nodiscard]] Task<void> write_series_rows(Table& table, std::vector<Bytes> tsuids);

class SeriesRegistry {
 public:
  // The layout outlives the registry. Without a sharding the layout's salts are the shards.
  SeriesRegistry(std::shared_ptr<Table> names, std::shared_ptr<Table> series,
                 const RowLayout& layout, SeriesLimits limits,
                 std::shared_ptr<const Sharding> sharding = nullptr);

  // For who owns the tables alone and appends to this log: intern() then neither reads nor writes
  // the series table, and what is new gets its rows at settle(). New names are in the log, which
  // outlives the registry, when intern() returns; what a series is must be in it before its points.
  void defer(NameLog& log) {
    deferred_ = true;
    uids_.defer(log);
  }

  // Afterwards all names and series that have ids have their rows, durably. Costs nothing where
  // none waits.
  Task<void> settle();

  [[nodiscard]] UidTable& uids() { return uids_; }
  [[nodiscard]] const SeriesTable& table() const { return table_; }
  [[nodiscard]] std::uint32_t shard_count() const;

  // As PointStore::intern().
  Task<std::vector<Result<SeriesId>>> intern(std::vector<SeriesName> names, CreateNames create);

  // With defer(): removes those of these series that are doomed, first their rows, durably, then
  // from memory. Those that were spared get their rows again. No settle() may run meanwhile but by
  // who calls this. An error: none is doomed any more.
  Task<void> forget(std::vector<SeriesId> series, SeriesTable::Removed& removed);
  // These will go, see SeriesTable.
  void doom(std::span<const SeriesId> series) { table_.doom(series); }
  void spare(SeriesId series) { table_.spare(series); }
  void reclaim(const SeriesTable::Removed& removed) { table_.reclaim(removed); }
  // No series has this name any more, and nobody will find it: its id may get another.
  void forget_name(NameKind kind, std::uint64_t uid) { table_.forget_name(kind, uid); }
  [[nodiscard]] Holds& holds() { return table_.holds(); }

  // The rows of all series, keys only.
  [[nodiscard]] std::unique_ptr<Scanner> scan_series() const;
  // The shard of a series that has a row; nothing where its metric has no name.
  Task<std::optional<std::uint32_t>> shard_of_stored(Bytes tsuid);

  // Series met in stored rows, by tsuid; all unknown names are read at once.
  Task<std::vector<Result<SeriesId>>> adopt(std::vector<Bytes> tsuids);
  // The same for rows read when table().removals() was so many: kConflict for a series that may
  // have gone since.
  Task<std::vector<Result<SeriesId>>> adopt_read(std::vector<Bytes> tsuids,
                                                 std::optional<std::uint64_t> removals);

  // Who loads series into memory, and within which limits.
  struct Loader {
    // Counts the memory of what was not in memory before; null: no limits.
    std::shared_ptr<WorkWatch> watch;
    // Called after some thousands of series at a time; its error ends the load. May be empty.
    std::function<Result<void>()> progress;
  };

  // Takes into memory those of these tsuids that have a row in the series table.
  Task<void> load_series(std::vector<Bytes> tsuids, Loader loader);

  // Afterwards every series of the metric that was in the series table is in table(). A metric
  // that was loaded is not read again unless `again`: others may have written meanwhile. Of those
  // who ask at the same time one reads; the others see how far it came, and whether they still
  // want it, after every batch. What was loaded stays, also when a load ends early.
  Task<void> load_metric(std::uint64_t metric_uid, bool again, Loader loader);

 private:
  class Load;

  Task<void> resolve_kind(NameKind kind, bool create, Interning& work);
  Task<void> register_new(Interning& work, std::vector<Interning::Fresh> fresh);
  [[nodiscard]] std::vector<Interning::Fresh> with_room(Interning& work,
                                                        std::vector<Interning::Fresh> fresh) const;
  Task<void> store_new(const std::vector<Interning::Fresh>& fresh);
  Result<SeriesId> take_in(Interning& work, const Interning::Fresh& fresh);
  [[nodiscard]] std::uint32_t shard_of(std::uint64_t metric_uid, std::string_view metric,
                                       BytesView tsuid) const;
  Task<void> store_series(const std::vector<SeriesId>& ids);
  // Which of these tsuids have a row in the series table.
  Task<std::vector<bool>> registered(std::vector<Bytes> tsuids);
  Task<bool> adopt_all(std::vector<Bytes> tsuids, std::uint64_t removals, const Loader& loader);
  Task<void> load_some(std::vector<Bytes> tsuids, const Loader& loader);
  Task<void> read_metric(std::uint64_t metric_uid, const Loader& loader, Load& load);
  [[nodiscard]] Result<NewSeries> make_series(const SeriesUids& uids, Bytes tsuid);

  const RowLayout& layout_;
  const std::shared_ptr<const Sharding> sharding_;  // null: by salt
  UidTable uids_;
  const std::shared_ptr<Table> registry_;
  SeriesTable table_;
  bool deferred_ = false;       // set before anything else
  Backlog<SeriesId> unstored_;  // without a row yet

  std::mutex mutex_;
  // Loads are numbered from 1 in the order they begin. By metric uid; all guarded by mutex_.
  std::uint64_t loads_begun_ = 0;
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> loaded_;  // the last that succeeded
  std::map<std::uint64_t, Completion> loading_;  // under way: finishes with the batch at work
};

}  // namespace halite::storage
