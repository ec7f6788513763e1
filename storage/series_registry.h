// Series and their ids: made from names on first sight, found again after a restart.
//
// Each series has a row in the series table (key = its tsuid, one empty cell; see
// docs/formats/series-table.md), written before the series' first point. Nothing is read at
// start-up: a series that is used again costs one key in a multi-get, and a metric's series are
// read together when a question first names it. So a start takes as long with ten million series
// as with ten, and long dead ones cost memory only when somebody asks for their metric.
//
//   Threads  any call from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "common/completion.h"
#include "storage/point_store.h"
#include "storage/schema/row_layout.h"
#include "storage/schema/tsuid.h"
#include "storage/schema/uid_table.h"
#include "storage/series_table.h"

namespace halite::storage {

[[nodiscard]] TableSpec series_table_spec(std::string name);

class SeriesRegistry {
 public:
  // The layout outlives the registry.
  SeriesRegistry(std::shared_ptr<Table> names, std::shared_ptr<Table> series,
                 const RowLayout& layout, SeriesId series_max);

  [[nodiscard]] UidTable& uids() { return uids_; }
  [[nodiscard]] const SeriesTable& table() const { return table_; }

  // As PointStore::intern().
  Task<std::vector<Result<SeriesId>>> intern(std::vector<SeriesName> names, CreateNames create);

  // Series met in stored rows, by tsuid; all unknown names are read at once.
  Task<std::vector<Result<SeriesId>>> adopt(std::vector<Bytes> tsuids);

  // Takes into memory those of these tsuids that have a row in the series table.
  Task<void> load_series(std::vector<Bytes> tsuids);

  // Afterwards every series of the metric that was in the series table is in table(). A metric
  // that was loaded is not read again unless `again`: others may have written meanwhile.
  Task<void> load_metric(std::uint64_t metric_uid, bool again);

 private:
  struct Interning;
  class LoadGuard;

  Task<void> resolve_kind(NameKind kind, bool create, Interning& work);
  Task<void> register_new(Interning& work);
  // Which of these tsuids have a row in the series table.
  Task<std::vector<bool>> registered(std::vector<Bytes> tsuids);
  Task<void> adopt_all(std::vector<Bytes> tsuids);
  Task<void> read_metric(std::uint64_t metric_uid);
  [[nodiscard]] Result<Series> make_series(const SeriesUids& uids, Bytes tsuid);

  const RowLayout& layout_;
  UidTable uids_;
  const std::shared_ptr<Table> registry_;
  SeriesTable table_;

  std::mutex mutex_;
  boost::unordered_flat_set<std::uint64_t> loaded_;  // metric uids; guarded by mutex_
  std::map<std::uint64_t, Completion> loads_;        // under way; guarded by mutex_
};

}  // namespace halite::storage
