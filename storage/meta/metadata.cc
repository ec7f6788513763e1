#include "storage/meta/metadata.h"

#include <set>
#include <utility>

namespace halite::storage {

Task<std::unique_ptr<Metadata>> Metadata::open(Parts parts, MetadataOptions options) {
  options.annotations.among_points = parts.point_rows != nullptr;
  std::shared_ptr<const OpentsdbLayout> layout = parts.point_rows;
  TableSpec notes = parts.point_table;
  if (layout == nullptr) {
    OpentsdbOptions layout_options;
    layout_options.widths = parts.widths;
    CO_TRY(layout, OpentsdbLayout::make(layout_options));
    notes = annotation_table_spec(options.annotation_table);
  }
  Tables tables;
  CO_TRY(tables.annotations, co_await parts.store.open_table(std::move(notes)));
  CO_TRY(tables.names, co_await parts.store.open_table(uid_table_spec(options.uid_table)));
  CO_TRY(tables.series, co_await parts.store.open_table(meta_table_spec(options.meta_table)));
  CO_TRY(tables.trees, co_await parts.store.open_table(tree_table_spec(options.tree_table)));
  co_return std::unique_ptr<Metadata>(
      new Metadata(std::move(parts), std::move(options), std::move(tables), std::move(layout)));
}

Metadata::Metadata(Parts parts, MetadataOptions options, Tables tables,
                   std::shared_ptr<const OpentsdbLayout> layout)
    : points_(parts.points),
      uids_(parts.uids),
      widths_(parts.widths),
      sort_into_trees_(options.sort_into_trees),
      annotations_(std::move(tables.annotations), std::move(layout), options.annotations),
      uid_metas_(std::move(tables.names), parts.uids, parts.widths),
      ts_metas_(std::move(tables.series), uid_metas_, parts.widths),
      trees_(std::move(tables.trees), parts.uids, parts.widths, options.trees),
      sorter_(trees_, ts_metas_, parts.clock) {
  if (options.track.series || options.track.name_objects) track(parts, options.track);
}

void Metadata::track(const Parts& parts, const TrackOptions& options) {
  TsTracker::Parts tracker_parts{
      .series = ts_metas_,
      .names = uid_metas_,
      .clock = parts.clock,
      .registry = parts.registry,
      .tsuid = [this](SeriesId id) -> Bytes { return points_.series(id).tsuid; },
      .created = [this](Bytes tsuid) { return series_created(std::move(tsuid)); },
  };
  tracker_.emplace(std::move(tracker_parts), options);
  uids_.watch(
      {.assigned = [this](NameKind kind,
                          const UidTable::Entry& entry) { tracker_->assigned(kind, entry.uid); },
       .renamed = {}});
  tracked_.emplace(points_, *tracker_);
  tracker_->start(parts.executor);
}

std::unique_ptr<SeriesWalk> Metadata::series_among(std::vector<Bytes> tsuids) {
  std::set<Bytes> metrics;
  for (const Bytes& tsuid : tsuids) metrics.insert(tsuid.substr(0, widths_.metric));
  std::vector<std::unique_ptr<SeriesWalk>> walks;
  walks.push_back(ts_metas_.series_among(std::move(tsuids)));
  walks.push_back(annotations_.series(metrics));
  return std::make_unique<SeriesWalks>(std::move(walks));
}

std::unique_ptr<SeriesWalk> Metadata::series() {
  std::vector<std::unique_ptr<SeriesWalk>> walks;
  walks.push_back(ts_metas_.series());
  walks.push_back(annotations_.series({}));
  return std::make_unique<SeriesWalks>(std::move(walks));
}

Task<void> Metadata::series_created(Bytes tsuid) {
  if (!sort_into_trees_) co_return Result<void>();
  co_return co_await sorter_.add(std::move(tsuid));
}

Task<void> Metadata::stop() {
  if (!tracker_) co_return Result<void>();
  co_return co_await tracker_->stop();
}

}  // namespace halite::storage
