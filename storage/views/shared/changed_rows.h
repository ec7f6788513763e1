// Finds the hours of metrics whose points any process has changed since a time.
//
// It reads the keys of rows with cells or delete markers that were written since. HBase skips files
// without any. Rows have OpenTSDB's layout.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/views/view_changes.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace halite::storage {

// Rows with keys that OpenTSDB's layout does not have: they are skipped and counted. Threads: any.
class UnreadableRows {
 public:
  explicit UnreadableRows(prometheus::Registry& registry);
  void skip(BytesView key, const Error& why);  // the first one is logged

 private:
  prometheus::Counter& count_;
  std::atomic<bool> logged_ = false;
};

struct PointRowsTable {
  std::shared_ptr<Table> table;
  Family family = 0;
  std::shared_ptr<const OpentsdbLayout> rows;
};

// Consecutive hours are one change. `metrics` are uids; rows of other times are not read.
// `unreadable` must outlive the task.
Task<std::vector<ViewChanges::Change>> changed_rows(PointRowsTable points,
                                                    std::vector<Bytes> metrics, TimeRange times,
                                                    TimestampMs since, UnreadableRows& unreadable);

// The begin of the first row of a metric at this time or later; nullopt: there is none.
Task<std::optional<TimestampMs>> first_row_time(PointRowsTable points, Bytes metric,
                                                TimestampMs since, UnreadableRows& unreadable);

}  // namespace halite::storage
