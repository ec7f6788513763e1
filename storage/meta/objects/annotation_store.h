// Stores annotations as JSON cells in rows of OpenTSDB's layout
// (storage/cells/layouts/annotation_cell.h).
//
// If points have such rows, annotations are among them, as in OpenTSDB, and scans of the points
// return them (Block::notes). Otherwise annotations have a table of their own, and lookups cost
// almost nothing while it is empty.
//
//   Threads  call from any thread; concurrent edits of an annotation all take effect.
//   Errors   kInvalidArgument: no row can contain it. kTooLarge: more annotations in one answer
//            than options allow. kConflict: concurrent changes prevented the edit. kCorruption: a
//            stored annotation is invalid.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/series_iterator.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/meta/objects/annotation.h"

namespace halite::storage {

struct AnnotationOptions {
  std::size_t answer_max = 100'000;  // meta.annotations_max: of one scan
  // No other process writes the table while this one has it open. If the table is empty, queries
  // skip it until this process creates an annotation.
  bool exclusive = false;
  // The table is the points' table: of_metric() and series() read all of it.
  bool among_points = false;
};

// The annotations of a series, in the order of their cells.
struct SeriesAnnotations {
  Bytes tsuid;
  std::vector<Annotation> notes;
};

class AnnotationStore {
 public:
  // Family 0 of the table contains the cells.
  AnnotationStore(std::shared_ptr<Table> table, std::shared_ptr<const OpentsdbLayout> layout,
                  AnnotationOptions options);

  // The annotation at this time; an empty tsuid means global.
  Task<std::optional<Annotation>> get(Bytes tsuid, std::int64_t start_time);

  // Creates it, or changes the fields that the edit gives; `replace` resets the others. Returns the
  // stored annotation.
  Task<Annotation> put(AnnotationEdit edit, bool replace);

  // Succeeds also if there is none.
  Task<void> remove(Bytes tsuid, std::int64_t start_time);

  // Deletes those of a series, or the global ones, that begin in [begin, last], both included.
  // Returns their number.
  Task<std::uint64_t> remove_range(Bytes tsuid, TimestampMs begin, TimestampMs last);

  // Global annotations as OpenTSDB selects them: startTime >= begin and endTime <= last, compared
  // as plain numbers, in the hours from begin to last, in the order of their cells.
  Task<std::vector<Annotation>> globals(std::int64_t begin, std::int64_t last);

  // The series with annotations: of these metrics, or of all if empty.
  [[nodiscard]] std::unique_ptr<SeriesIterator> series(const std::set<Bytes>& metric_uids);

  // The annotations in the hours that `range` touches, of series of the metric, by tsuid.
  Task<std::vector<SeriesAnnotations>> of_metric(Bytes metric_uid, TimeRange range);

  // Deletes those that begin in the range, of these series of the metric.
  Task<void> remove_of_metric(Bytes metric_uid, TimeRange range, std::set<Bytes> tsuids);

  [[nodiscard]] const OpentsdbLayout& layout() const { return *layout_; }
  [[nodiscard]] const AnnotationOptions& options() const { return options_; }

 private:
  class NotedSeries;
  struct Found {
    Bytes row;
    Bytes qualifier;
    Annotation note;
  };
  [[nodiscard]] bool may_be_series(BytesView tsuid) const;
  Task<std::optional<Bytes>> read(Bytes row, Bytes qualifier);
  // Deletes those that begin in [begin, last]; returns their number.
  Task<std::uint64_t> remove(std::vector<Found> found, TimestampMs begin, TimestampMs last);
  // The annotations in the rows, in order.
  Task<std::vector<Found>> scan(KeyRange rows, std::shared_ptr<const RowFilter> filter);
  // Whether there is certainly no annotation. Reads the table once.
  Task<bool> known_empty();

  const std::shared_ptr<Table> table_;
  const std::shared_ptr<const OpentsdbLayout> layout_;
  const AnnotationOptions options_;

  enum class TableContents : std::uint8_t { kUnknown, kEmpty, kMayHave };
  std::atomic<TableContents> contents_ = TableContents::kUnknown;
};

// The kTooLarge error.
[[nodiscard]] Error too_many_annotations(std::size_t answer_max);

// The table for annotations only.
[[nodiscard]] TableSpec annotation_table_spec(std::string name);

}  // namespace halite::storage
