// Annotations, UIDMeta, TSMeta, trees and metric families, opened together, with the tracker that
// creates such objects as points arrive.
//
//   CO_TRY(auto metadata, co_await Metadata::open(dependencies, options));
//   Writer writer(metadata->points(), ..);     tracks the points written there
//   ...
//   CO_TRY_VOID(co_await metadata->stop());    writes the counters; write no points after it
//
//   Lifetime  the dependencies must outlive it.
//   Threads   call from any thread; stop() once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/meta/objects/annotation_store.h"
#include "storage/meta/objects/family_store.h"
#include "storage/meta/objects/tracked_point_store.h"
#include "storage/meta/objects/ts_meta_store.h"
#include "storage/meta/objects/ts_tracker.h"
#include "storage/meta/objects/uid_meta.h"
#include "storage/meta/trees/tree_sorter.h"
#include "storage/meta/trees/tree_store.h"

namespace prometheus {
class Registry;
}

namespace halite::storage {

struct MetadataOptions {
  std::string annotation_table = "halite-annotations";  // if they have a table of their own
  std::string uid_table = "tsdb-uid";
  std::string meta_table = "tsdb-meta";
  std::string tree_table = "tsdb-tree";
  std::string family_table = "halite-families";
  AnnotationOptions annotations;
  TrackOptions track;
  TreeOptions trees;
  // meta.trees (tsd.core.tree.enable_processing): sorts new series into trees.
  bool sort_into_trees = false;
};

class Metadata {
 public:
  struct Dependencies {
    WideColumnStore& store;
    PointStore& points;
    UidTable& uids;  // over options.uid_table; not used so far
    UidWidths widths;
    // The point table and its layout, if points have OpenTSDB's rows. Annotations are then stored
    // there; without point_rows they have a table of their own.
    TableSpec point_table;
    std::shared_ptr<const OpentsdbLayout> point_rows;
    const Clock& clock;
    boost::asio::any_io_executor executor;  // the tracker writes on it
    prometheus::Registry& registry;
  };
  static Task<std::unique_ptr<Metadata>> open(Dependencies dependencies, MetadataOptions options);
  Task<void> stop();

  // The point store, with tracking as the options say.
  [[nodiscard]] PointStore& points() { return tracked_ ? *tracked_ : points_; }

  [[nodiscard]] AnnotationStore& annotations() { return annotations_; }
  [[nodiscard]] UidMetaStore& uid_metas() { return uid_metas_; }
  [[nodiscard]] TsMetaStore& ts_metas() { return ts_metas_; }
  [[nodiscard]] TreeStore& trees() { return trees_; }
  [[nodiscard]] FamilyStore& families() { return families_; }
  [[nodiscard]] UidTable& uids() { return uids_; }
  [[nodiscard]] const UidWidths& widths() const { return widths_; }

  // Those of these series that have metadata (a TSMeta object, a counter, annotations), and others
  // of their metrics. Garbage collection must not remove them though they have no points.
  [[nodiscard]] std::unique_ptr<SeriesIterator> series_among(std::vector<Bytes> tsuids);

  // Every series with metadata.
  [[nodiscard]] std::unique_ptr<SeriesIterator> series();

  // Call when a series gets its TSMeta object. Adds it to the trees, if trees are enabled.
  Task<void> series_created(Bytes tsuid);

 private:
  struct Tables {
    std::shared_ptr<Table> annotations;
    std::shared_ptr<Table> names;
    std::shared_ptr<Table> series;
    std::shared_ptr<Table> trees;
    std::shared_ptr<Table> families;
  };
  Metadata(Dependencies dependencies, MetadataOptions options, Tables tables,
           std::shared_ptr<const OpentsdbLayout> layout);

  void track(const Dependencies& dependencies, const TrackOptions& options);

  PointStore& points_;
  UidTable& uids_;
  const UidWidths widths_;
  const bool sort_into_trees_;
  AnnotationStore annotations_;
  UidMetaStore uid_metas_;
  TsMetaStore ts_metas_;
  TreeStore trees_;
  FamilyStore families_;
  TreeSorter sorter_;
  std::optional<TsTracker> tracker_;          // if anything is tracked
  std::optional<TrackedPointStore> tracked_;  // if anything is tracked
};

}  // namespace halite::storage
