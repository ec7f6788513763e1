// What people say about series, and how many points they got: TSMeta objects and their counters.
//
//   row      the tsuid, in the table tsdb-meta, family "name"
//   ts_meta  the object (ts_meta.h)
//   ts_ctr   8 bytes, big-endian: points counted. Its cell time is when the last was written.
//
//   Threads  any call from any thread; edits of one object at the same time all take effect.
//   Errors   kNotFound: an id in a tsuid has no name (any more). kInvalidArgument: there is no
//            object to change, or the tsuid has a length that no series has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/task.h"
#include "storage/api/series_iterator.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/meta/objects/ts_meta.h"
#include "storage/meta/objects/uid_meta.h"

namespace halite::storage {

class TsMetaStore {
 public:
  TsMetaStore(std::shared_ptr<Table> table, UidMetaStore& names, UidWidths widths);

  // With its names' objects. Nothing when there is only a counter, or not even that.
  Task<std::optional<TsMeta>> get(Bytes tsuid);

  // All of a metric whose tags include these, by tsuid, at most `limit`; kTooLarge when there are
  // more.
  Task<std::vector<TsMeta>> find(std::uint64_t metric_uid, std::vector<UidPair> tags,
                                 std::size_t limit);

  // Changes the fields that the edit gives; `replace` resets the others. Wants an object to be
  // there.
  Task<TsMeta> put(Bytes tsuid, TsMetaEdit edit, bool replace);

  Task<bool> exists(Bytes tsuid);
  // The series that have an object or a counter: those among these, or all.
  [[nodiscard]] std::unique_ptr<SeriesIterator> series_among(std::vector<Bytes> tsuids);
  [[nodiscard]] std::unique_ptr<SeriesIterator> series();
  // Makes one of `meta`'s fields, unless there is one, and a counter, unless there is one. True:
  // there was none.
  Task<bool> create(Bytes tsuid, TsMeta meta, std::int64_t counter);

  // The object; the counter stays. Good also when there is none.
  Task<void> remove(Bytes tsuid);

  // Counters: adds, returning the sum; or sets to 1, which only moves the time of the last point.
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
