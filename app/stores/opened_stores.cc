#include "app/stores/opened_stores.h"

#include <utility>

#include "app/server/wait_for.h"
#include "app/tools/hbase_tables.h"
#include "common/log.h"
#include "storage/catalog/table_settings.h"
#include "storage/files/posix_files.h"

namespace halite::app {
namespace {

Result<void> open_backend(const OpenContext& context, Backend& to) {
  switch (context.options.store) {
    case StoreKind::kEngine:
      return open_engine(context, to);
    case StoreKind::kRocksDb:
      return open_rocksdb(context, to);
    case StoreKind::kMemory:
      return open_memory(context, to);
    case StoreKind::kHBase:
      return open_hbase(context, to);
  }
  return fail(Errc::kInternal, "no such kind of store");
}

}  // namespace

Result<void> OpenedStores::open(const Options& options, const Clock& clock,
                                prometheus::Registry& registry, const ReplayWatch& replayed) {
  // Other processes, and OpenTSDB, may write to these tables.
  const bool shared = options.store == StoreKind::kHBase;
  storage::CellPointStoreOptions cells = options.cells;
  cells.cell_ttl_ms = cell_ttl_ms(options.layout);
  cells.scan.shared_tables = shared;
  const OpenContext context{.options = options,
                            .cells = cells,
                            .clock = clock,
                            .executor = executor_,
                            .registry = registry,
                            .replayed = replayed};
  TRY_VOID(open_backend(context, backend_));
  storage::MetadataOptions meta = options.metadata;
  meta.uid_table = cells.uid_table;
  meta.annotations.exclusive = !shared;
  meta.track.series_max = cells.series_max;
  TRY(views_, open_views(context, backend_));
  TRY_VOID(open_metadata(context, meta));
  TRY(sides_, open_sides(context, backend_, metadata_->points()));
  TRY(shared_views_, open_shared_views(context, backend_, sides_.rollups.get()));
  // Series with data beyond points and metadata are never removed.
  const bool tracked = meta.track.series || meta.track.points || meta.track.series_objects;
  TRY(const bool names_stay, keep_names(cells.settings_table));
  if (!has_sides() && !tracked) {
    backend_.points->enable_series_gc(*metadata_, *sides_.counters, views_.get(),
                                      !names_stay && !meta.track.name_objects);
  }
  if (backend_.rocks != nullptr) begin_scrub(context);
  const bool has_views = views_ != nullptr || shared_views_ != nullptr;
  if (has_views && !options.read_only.wanted) views_cpu_percent_ = options.views_cpu_percent;
  if (shared_views_) view_lease_.emplace(*shared_views_);
  begin_view_builder();
  return {};
}

Result<void> OpenedStores::open_metadata(const OpenContext& context,
                                         const storage::MetadataOptions& options) {
  storage::Metadata::Dependencies dependencies = {
      .store = *backend_.wide,
      .points = views_ ? views_->points() : backend_.points->store(),
      .uids = backend_.points->uids(),
      .widths = backend_.widths,
      .point_table = storage::data_table_spec(context.cells),
      .point_rows = backend_.point_rows,
      .clock = context.clock,
      .executor = executor_,
      .registry = context.registry};
  TRY(metadata_, wait_for(executor_, storage::Metadata::open(std::move(dependencies), options)));
  return {};
}

// Rollups and histograms refer to series by the ids of names. Once any existed, no id may be
// assigned to another name, even while they are off.
Result<bool> OpenedStores::keep_names(const std::string& settings_table) {
  auto spec = storage::settings_table_spec(settings_table);
  TRY(const std::shared_ptr<storage::Table> settings,
      wait_for(executor_, backend_.wide->open_table(std::move(spec))));
  const storage::Column column{0, "kept"};
  std::vector<storage::RowRead> reads;
  reads.push_back({"names", column.family, {column.qualifier}});
  TRY(const std::vector<storage::Row> rows, wait_for(executor_, settings->read(std::move(reads))));
  if (!rows.front().cells.empty()) return true;
  if (!has_sides()) return false;
  std::vector<storage::RowWrite> writes(1);
  writes[0].row = "names";
  writes[0].puts.push_back({column, {}, 0});
  TRY_VOID(wait_for(executor_, settings->write(std::move(writes))));
  return true;
}

Result<void> OpenedStores::set_counter_rules(const Options& options) {
  TRY(storage::CounterRules rules,
      storage::CounterRules::parse(options.counters, options.layout.ttl_ms));
  return wait_for(executor_, sides_.counters->set_rules(std::move(rules)));
}

Result<void> OpenedStores::set_view_rules(const Options& options) {
  if (!views_) {
    log::warn("with --store hbase, changed views apply at the next start");
    return {};
  }
  TRY(std::vector<storage::ViewRule> rules, storage::parse_view_rules(options.views));
  return wait_for(executor_, views_->set_rules(std::move(rules)));
}

void OpenedStores::begin_scrub(const OpenContext& context) {
  storage::EngineOptions engine;
  engine.settings_table = context.cells.settings_table;
  engine.uid_table = context.cells.uid_table;
  engine.series_table = context.cells.series_table;
  const Environment& environment = context.options.environment;
  scrub_ = std::make_unique<storage::check::Scrub>(
      storage::check::Scrub::Dependencies{
          .names = *backend_.rocks,
          .chunk_files = [points = backend_.points.get()] { return points->chunk_files(); },
          .files = environment.files != nullptr ? environment.files : storage::posix_files(),
          .engine = std::move(engine),
          .clock = context.clock,
          .registry = context.registry},
      context.options.care.scrub);
}

Result<void> OpenedStores::health() const {
  TRY_VOID(backend_.wide->health());
  return backend_.points->health();
}

std::vector<MemoryUser> OpenedStores::memory_users() {
  std::vector<MemoryUser> users = backend_.points->memory_users();
  const storage::SeriesTable& series = backend_.points->series().table();
  users.push_back(
      {.setting = "storage.series_bytes_max", .used = [&series] { return series.bytes(); }});
  if (backend_.rocks != nullptr) users.push_back(backend_.rocks->memory_user());
  return users;
}

std::unique_ptr<storage::CardinalityCounter> OpenedStores::make_cardinality_counter(
    const Clock& clock, boost::asio::any_io_executor executor) {
  return std::make_unique<storage::CardinalityCounter>(backend_.points->series(), backend_.widths,
                                                       clock, std::move(executor));
}

Task<storage::TableRegions> OpenedStores::table_regions() {
  if (backend_.table_regions) return backend_.table_regions();
  return []() -> Task<storage::TableRegions> {
    co_return fail(Errc::kUnsupported, "This server does not store points on a cluster");
  }();
}

Result<std::unique_ptr<storage::PointLoader>> OpenedStores::make_point_loader(
    const PointLoad& how) {
  if (backend_.make_point_loader) return backend_.make_point_loader(how);
  return fail(Errc::kUnsupported, "loading points as files needs --store hbase");
}

Result<void> OpenedStores::checkpoint(const std::string& dir) {
  if (backend_.rocks == nullptr)
    return fail(Errc::kUnsupported, "This server does not store data in files");
  auto names = [rocks = backend_.rocks, dir] { return rocks->checkpoint(dir + "/rocksdb"); };
  // Totals in the copy of the cells must not contain points that the copy of the points lacks.
  view_builder_.reset();
  const Result<void> copied =
      wait_for(executor_, backend_.points->checkpoint(dir + "/engine", std::move(names)));
  begin_view_builder();
  return copied;
}

void OpenedStores::begin_view_builder() {
  if (views_cpu_percent_ == 0) return;
  view_builder_.emplace(
      [this] { return shared_views_ ? shared_views_->build_some() : views_->build_some(); },
      views_cpu_percent_);
}

Result<void> OpenedStores::close() {
  Result<void> flushed;
  scrub_.reset();
  view_builder_.reset();
  view_lease_.reset();
  if (shared_views_) {
    // Another server takes the lease in any case.
    const Result<void> released = wait_for(executor_, shared_views_->release());
    if (!released) log::warn("cannot give up the lease of the views: {}", released.error().message);
  }
  if (metadata_) flushed = wait_for(executor_, metadata_->stop());
  if (sides_.counters) {
    const Result<void> added = wait_for(executor_, sides_.counters->close());
    if (flushed) flushed = added;
  }
  if (backend_.points) {
    const Result<void> drained = wait_for(executor_, backend_.points->close());
    if (flushed) flushed = drained;
  }
  shared_views_.reset();
  sides_ = {};
  metadata_.reset();
  views_.reset();
  backend_.points.reset();
  Result<void> closed;
  if (backend_.wide) closed = wait_for(executor_, backend_.wide->close());
  backend_.region_watch.reset();
  return flushed ? closed : flushed;
}

Result<std::unique_ptr<Stores>> open_stores(const Options& options, const Clock& clock,
                                            boost::asio::any_io_executor executor,
                                            prometheus::Registry& registry, ReplayWatch replayed) {
  auto stores = std::make_unique<OpenedStores>(std::move(executor));
  const Result<void> opened = stores->open(options, clock, registry, replayed);
  if (!opened) {
    const Result<void> closed = stores->close();  // report the first error
    static_cast<void>(closed);
    return std::unexpected(opened.error());
  }
  return std::unique_ptr<Stores>(std::move(stores));
}

}  // namespace halite::app
