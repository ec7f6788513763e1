#include "storage/meta/metadata.h"

#include <set>
#include <utility>

namespace halite::storage {

Task<std::unique_ptr<Metadata>> Metadata::open(Dependencies dependencies, MetadataOptions options) {
  options.annotations.among_points = dependencies.point_rows != nullptr;
  std::shared_ptr<const OpentsdbLayout> layout = dependencies.point_rows;
  TableSpec notes = dependencies.point_table;
  if (layout == nullptr) {
    OpentsdbOptions layout_options;
    layout_options.widths = dependencies.widths;
    CO_TRY(layout, OpentsdbLayout::make(layout_options));
    notes = annotation_table_spec(options.annotation_table);
  }
  Tables tables;
  CO_TRY(tables.annotations, co_await dependencies.store.open_table(std::move(notes)));
  CO_TRY(tables.names, co_await dependencies.store.open_table(uid_table_spec(options.uid_table)));
  CO_TRY(tables.series,
         co_await dependencies.store.open_table(meta_table_spec(options.meta_table)));
  CO_TRY(tables.trees, co_await dependencies.store.open_table(tree_table_spec(options.tree_table)));
  CO_TRY(tables.families,
         co_await dependencies.store.open_table(family_table_spec(options.family_table)));
  co_return std::unique_ptr<Metadata>(new Metadata(std::move(dependencies), std::move(options),
                                                   std::move(tables), std::move(layout)));
}

Metadata::Metadata(Dependencies dependencies, MetadataOptions options, Tables tables,
                   std::shared_ptr<const OpentsdbLayout> layout)
    : points_(dependencies.points),
      uids_(dependencies.uids),
      widths_(dependencies.widths),
      sort_into_trees_(options.sort_into_trees),
      annotations_(std::move(tables.annotations), std::move(layout), options.annotations),
      uid_metas_(std::move(tables.names), dependencies.uids, dependencies.widths),
      ts_metas_(std::move(tables.series), uid_metas_, dependencies.widths),
      trees_(std::move(tables.trees), dependencies.uids, dependencies.widths, options.trees),
      families_(std::move(tables.families)),
      sorter_(trees_, ts_metas_, dependencies.clock) {
  if (options.track.series || options.track.name_objects) track(dependencies, options.track);
}

void Metadata::track(const Dependencies& dependencies, const TrackOptions& options) {
  TsTracker::Dependencies tracker_parts{
      .series = ts_metas_,
      .names = uid_metas_,
      .clock = dependencies.clock,
      .registry = dependencies.registry,
      .tsuid = [this](SeriesId id) -> Bytes { return points_.series(id).tsuid; },
      .created = [this](Bytes tsuid) { return series_created(std::move(tsuid)); },
  };
  tracker_.emplace(std::move(tracker_parts), options);
  uids_.watch({.assigned =
                   [this](NameKind kind, const UidTable::NameMapping& entry) {
                     tracker_->assigned(kind, entry.uid);
                   },
               .renamed = {}});
  tracked_.emplace(points_, *tracker_);
  tracker_->start(dependencies.executor);
}

std::unique_ptr<SeriesIterator> Metadata::series_among(std::vector<Bytes> tsuids) {
  std::set<Bytes> metrics;
  for (const Bytes& tsuid : tsuids) metrics.insert(tsuid.substr(0, widths_.metric));
  std::vector<std::unique_ptr<SeriesIterator>> walks;
  walks.push_back(ts_metas_.series_among(std::move(tsuids)));
  walks.push_back(annotations_.series(metrics));
  return std::make_unique<ChainedSeriesIterator>(std::move(walks));
}

std::unique_ptr<SeriesIterator> Metadata::series() {
  std::vector<std::unique_ptr<SeriesIterator>> walks;
  walks.push_back(ts_metas_.series());
  walks.push_back(annotations_.series({}));
  return std::make_unique<ChainedSeriesIterator>(std::move(walks));
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
