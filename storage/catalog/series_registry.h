// Series and their ids: creates them from names, and finds them again after a restart.
//
// Each series has a row in the series table (storage/catalog/series_rows.h). The row is written
// before the first point of the series; with defer(), before the first point that is only in rows
// or chunks. Nothing is read at start: the first query of a metric loads its series
// (storage/catalog/series_loader.h). So the time to start does not depend on the number of series,
// and old series need no memory until a query names their metric.
//
//   Threads  call from any thread; defer() first. Pin table() before you pass or obtain ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/threads/write_behind_queue.h"
#include "storage/api/point_store.h"
#include "storage/api/sharding.h"
#include "storage/catalog/interning.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/series_loader.h"
#include "storage/catalog/series_quota.h"
#include "storage/catalog/series_restore.h"
#include "storage/catalog/series_rows.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class SeriesRegistry {
 public:
  SeriesRegistry(std::shared_ptr<Table> names, std::shared_ptr<Table> series, UidWidths widths,
                 SeriesLimits limits, std::unique_ptr<NewSeriesQuota> quota,
                 std::shared_ptr<const Sharding> sharding, NameForm form = NameForm::kUtf8);

  // Defers rows, for a process that owns the tables and appends to this log. intern() then does not
  // write the series table, and reads it only if new series are limited; flush_rows() writes the
  // rows. When intern() returns, new names are in the log. The caller logs a series before its
  // points. The log must outlive the registry.
  void defer(NameLog& log) {
    deferred_ = true;
    uids_.defer(log);
  }

  // With defer(), before intern(): adds series of a log that is read again, under their ids in it.
  // Their names are restored or have rows. Their own rows are deferred, as those of new series.
  // After an error some may have been added.
  Task<void> restore(std::vector<LoggedSeries> series);
  // Call after the last restore(), also after an error.
  void end_restore() { table_.end_restore(); }

  // Makes the rows of all names and series that have ids durable. Costs almost nothing if none is
  // deferred.
  Task<void> flush_rows();

  [[nodiscard]] UidTable& uids() { return uids_; }
  [[nodiscard]] const SeriesTable& table() const { return table_; }
  [[nodiscard]] const NewSeriesQuota& quota() const { return *quota_; }
  // Loads stored series into memory.
  [[nodiscard]] SeriesLoader& loader() { return loader_; }
  [[nodiscard]] std::uint32_t shard_count() const { return sharding_->shard_count(); }

  // Whether a new metric may have a series now. kTooLarge names the limit.
  [[nodiscard]] Result<void> check_room() const;

  // See PointStore::intern().
  Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create);

  // With defer(): removes those series that are still removal candidates, first their rows,
  // durably, then from memory. Series that were used meanwhile get their rows again. No other
  // flush_rows() may run. After an error none of them is a candidate.
  Task<void> remove_candidates(std::vector<SeriesId> series, SeriesTable::Removed& removed);
  // See SeriesTable.
  void mark_candidates(std::span<const SeriesId> series) { table_.mark_candidates(series); }
  void unmark_candidate(SeriesId series) { table_.unmark_candidate(series); }
  void unmark_candidates(std::span<const SeriesId> series) { table_.unmark_candidates(series); }
  void reclaim(const SeriesTable::Removed& removed) { table_.reclaim(removed); }
  // Call when a name is removed and no series has it: its id may be assigned again.
  void release_name(NameKind kind, std::uint64_t uid) { table_.release_name(kind, uid); }
  [[nodiscard]] Epochs& epochs() { return table_.epochs(); }

  // The rows of all series, keys only.
  [[nodiscard]] std::unique_ptr<Scanner> scan_series(const ReadContext& context = {}) const {
    return scan_series_rows(*rows_, {}, context);
  }
  // The shard of a series with a row; nullopt if its metric has no name.
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
  bool deferred_ = false;                // set before any other call
  WriteBehindQueue<SeriesId> unstored_;  // without a row yet
};

}  // namespace halite::storage
