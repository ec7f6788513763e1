// Series and their ids: made from names on first sight, found again after a restart.
//
// Each series has a row in the series table (storage/catalog/series_rows.h), written before the
// series' first point, or before the first one that is nowhere but in rows and chunks (see
// defer()). Nothing is read at start-up: a metric's series are read together when a question first
// names it (storage/catalog/series_loader.h). So a start takes as long with ten million series as
// with ten, and long dead ones cost memory only when somebody asks for their metric.
//
//   Threads  any call from any thread; defer() before any other. What takes or gives ids wants its
//            caller to hold those of table().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/write_behind_queue.h"
#include "storage/api/point_store.h"
#include "storage/api/sharding.h"
#include "storage/catalog/interning.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/series_loader.h"
#include "storage/catalog/series_quota.h"
#include "storage/catalog/series_rows.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class SeriesRegistry {
 public:
  SeriesRegistry(std::shared_ptr<Table> names, std::shared_ptr<Table> series, UidWidths widths,
                 SeriesLimits limits, std::unique_ptr<NewSeriesQuota> quota,
                 std::shared_ptr<const Sharding> sharding, NameForm form = NameForm::kUtf8);

  // For who owns the tables alone and appends to this log: intern() then does not write the series
  // table, nor read it where new series have no limits, and what is new gets its rows at
  // flush_rows(). New names are in the log, which outlives the registry, when intern() returns;
  // what a series is must be in it before its points.
  void defer(NameLog& log) {
    deferred_ = true;
    uids_.defer(log);
  }

  // Afterwards all names and series that have ids have their rows, durably. Costs nothing where
  // none waits.
  Task<void> flush_rows();

  [[nodiscard]] UidTable& uids() { return uids_; }
  [[nodiscard]] const SeriesTable& table() const { return table_; }
  [[nodiscard]] const NewSeriesQuota& quota() const { return *quota_; }
  // Into memory, of series that have rows.
  [[nodiscard]] SeriesLoader& loader() { return loader_; }
  [[nodiscard]] std::uint32_t shard_count() const { return sharding_->shard_count(); }

  // As PointStore::intern().
  Task<std::vector<Result<SeriesId>>> intern(std::vector<SeriesName> names, CreateNames create);

  // With defer(): removes those of these series that are doomed, first their rows, durably, then
  // from memory. Those that were spared get their rows again. No flush_rows() may run meanwhile but
  // by who calls this. An error: none is doomed any more.
  Task<void> remove_candidates(std::vector<SeriesId> series, SeriesTable::Removed& removed);
  // These will go, see SeriesTable.
  void mark_candidates(std::span<const SeriesId> series) { table_.mark_candidates(series); }
  void unmark_candidate(SeriesId series) { table_.unmark_candidate(series); }
  void reclaim(const SeriesTable::Removed& removed) { table_.reclaim(removed); }
  // No series has this name any more, and nobody will find it: its id may get another.
  void release_name(NameKind kind, std::uint64_t uid) { table_.release_name(kind, uid); }
  [[nodiscard]] SeriesEpochs& epochs() { return table_.epochs(); }

  // The rows of all series, keys only.
  [[nodiscard]] std::unique_ptr<Scanner> scan_series() const {
    return scan_series_rows(*rows_, {}, {});
  }
  // The shard of a series that has a row; nothing where its metric has no name.
  Task<std::optional<std::uint32_t>> shard_of_stored(Bytes tsuid);

 private:
  Task<void> resolve_kind(NameKind kind, bool create, InternBatch& work);
  Task<void> register_new(InternBatch& work, std::vector<InternBatch::NewEntry> fresh);
  void close_names(InternBatch& work) const;
  Task<void> close_names_by_metric(InternBatch& work);
  Task<std::vector<InternBatch::NewEntry>> within_quota(InternBatch& work,
                                                        std::vector<InternBatch::NewEntry> fresh,
                                                        NewSeriesQuota::Share& share);
  [[nodiscard]] std::vector<InternBatch::NewEntry> with_room(
      InternBatch& work, std::vector<InternBatch::NewEntry> fresh) const;
  Task<void> store_new(const std::vector<InternBatch::NewEntry>& fresh);
  Result<SeriesId> add_series(InternBatch& work, const InternBatch::NewEntry& fresh);
  Task<void> store_series(const std::vector<SeriesId>& ids);
  [[nodiscard]] std::vector<Bytes> tsuids_of(std::span<const SeriesId> ids) const;

  const UidWidths widths_;
  const std::unique_ptr<NewSeriesQuota> quota_;
  const std::shared_ptr<const Sharding> sharding_;
  UidTable uids_;
  const std::shared_ptr<Table> rows_;
  SeriesTable table_;
  SeriesLoader loader_;
  bool deferred_ = false;                // set before anything else
  WriteBehindQueue<SeriesId> unstored_;  // without a row yet
};

}  // namespace halite::storage
