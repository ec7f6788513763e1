// Annotations in rows of OpenTSDB's layout: a cell each, JSON in it
// (storage/cells/layouts/annotation_cell.h says where).
//
// Where points lie in such rows, too, annotations lie among them, where OpenTSDB looks for them:
// who reads the points comes by them (Block::notes). Otherwise they have a table of their own, and
// looking for them costs next to nothing where there are none.
//
//   Threads  any call from any thread; edits of one annotation at the same time all take effect,
//            one after the other.
//   Errors   kInvalidArgument: no such place in any row. kTooLarge: more annotations in one answer
//            than options allow. kConflict: others kept changing what was to be changed.
//            kCorruption: a stored annotation that is none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/task.h"
#include "storage/api/series_iterator.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/meta/objects/annotation.h"

namespace halite::storage {

struct AnnotationOptions {
  std::size_t answer_max = 100'000;  // meta.annotations_max: of one scan
  // Nobody else writes the table while this process has it: where it is found empty, it stays so
  // until an annotation is made here, and no question need look.
  bool exclusive = false;
  // The table is that of the points: of_metric() and series() read all of it.
  bool among_points = false;
};

// One series' annotations, in the order of their cells.
struct SeriesAnnotations {
  Bytes tsuid;
  std::vector<Annotation> notes;
};

class AnnotationStore {
 public:
  // Family 0 of the table holds the cells.
  AnnotationStore(std::shared_ptr<Table> table, std::shared_ptr<const OpentsdbLayout> layout,
                  AnnotationOptions options);

  // The one that stands at this time; an empty tsuid asks for a global one.
  Task<std::optional<Annotation>> get(Bytes tsuid, std::int64_t start_time);

  // Makes it, or changes the fields that the edit gives; `replace` resets the others. Returns what
  // is stored now.
  Task<Annotation> put(AnnotationEdit edit, bool replace);

  // Good also when there is none.
  Task<void> remove(Bytes tsuid, std::int64_t start_time);

  // Those of a series, or the global ones, that begin in [begin, last], both included. Returns how
  // many there were.
  Task<std::uint64_t> remove_range(Bytes tsuid, TimestampMs begin, TimestampMs last);

  // Global ones as OpenTSDB selects them, comparing numbers as they stand: startTime >= begin and
  // endTime <= last, in the hours from begin to last, in the order of their cells.
  Task<std::vector<Annotation>> globals(std::int64_t begin, std::int64_t last);

  // The series that have some: of these metrics, or of all where none is named.
  [[nodiscard]] std::unique_ptr<SeriesIterator> series(const std::set<Bytes>& metric_uids);

  // All in the hours that `range` touches, by tsuid. Only series of that metric.
  Task<std::vector<SeriesAnnotations>> of_metric(Bytes metric_uid, TimeRange range);

  // Those that begin in the range, of these series of the metric.
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
  // Those of them that begin in [begin, last]; returns how many.
  Task<std::uint64_t> remove(std::vector<Found> found, TimestampMs begin, TimestampMs last);
  // Annotations of the rows, in order.
  Task<std::vector<Found>> scan(KeyRange rows, std::shared_ptr<const RowFilter> filter);
  // Is it known that there is no annotation at all? Looks once.
  Task<bool> known_empty();

  const std::shared_ptr<Table> table_;
  const std::shared_ptr<const OpentsdbLayout> layout_;
  const AnnotationOptions options_;

  enum class TableContents : std::uint8_t { kUnknown, kEmpty, kMayHave };
  std::atomic<TableContents> contents_ = TableContents::kUnknown;
};

// kTooLarge.
[[nodiscard]] Error too_many_annotations(std::size_t answer_max);

// The table of their own.
[[nodiscard]] TableSpec annotation_table_spec(std::string name);

}  // namespace halite::storage
