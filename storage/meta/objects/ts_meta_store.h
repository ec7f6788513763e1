// Stores TSMeta objects and the point counters of series.
//
//   row      the tsuid, in the table tsdb-meta, family "name"
//   ts_meta  the object (ts_meta.h)
//   ts_ctr   8 bytes, big-endian: points counted. Its cell time is when the last was written.
//
//   Threads  call from any thread; concurrent edits of an object all take effect.
//   Errors   kNotFound: a uid in a tsuid has no name. kInvalidArgument: there is no object to
//            change, or the tsuid has an invalid length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/api/series_iterator.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/meta/objects/ts_meta.h"
#include "storage/meta/objects/uid_meta.h"

namespace halite::storage {

class TsMetaStore {
 public:
  TsMetaStore(std::shared_ptr<Table> table, UidMetaStore& names, UidWidths widths);

  // With its names' objects. nullopt if there is no object, even if there is a counter.
  Task<std::optional<TsMeta>> get(Bytes tsuid);

  // Those of a metric whose tags include `tags`, by tsuid, at most `limit`; kTooLarge if there are
  // more.
  Task<std::vector<TsMeta>> find(std::uint64_t metric_uid, std::vector<UidPair> tags,
                                 std::size_t limit);

  // Changes the fields that the edit gives; `replace` resets the others. The object must exist.
  Task<TsMeta> put(Bytes tsuid, TsMetaEdit edit, bool replace);

  Task<bool> exists(Bytes tsuid);
  // The series with an object or a counter: among these, or all.
  [[nodiscard]] std::unique_ptr<SeriesIterator> series_among(std::vector<Bytes> tsuids);
  [[nodiscard]] std::unique_ptr<SeriesIterator> series();
  // Creates an object with `meta`'s fields and a counter, if they do not exist. Returns true if
  // there was no object.
  Task<bool> create(Bytes tsuid, TsMeta meta, std::int64_t counter);

  // Deletes the object and keeps the counter. Succeeds also if there is none.
  Task<void> remove(Bytes tsuid);

  // Counters: count() adds and returns the sum; mark() sets 1, which records only the last time.
  Task<std::int64_t> count(Bytes tsuid, std::int64_t points);
  Task<void> mark(std::vector<Bytes> tsuids);
  Task<bool> has_counter(Bytes tsuid);

 private:
  Task<std::optional<TsMeta>> read(Bytes tsuid);
  Task<void> add_names(TsMeta& meta, const SeriesUids& uids);

  const std::shared_ptr<Table> table_;
  UidMetaStore& names_;
  const UidWidths widths_;
};

[[nodiscard]] TableSpec meta_table_spec(std::string name);

}  // namespace halite::storage
