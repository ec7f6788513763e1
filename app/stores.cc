#include "app/stores.h"

#include <system_error>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/hbase_tables.h"
#include "app/missing_names.h"
#include "app/opened_points.h"
#include "app/region_watch.h"
#include "app/side_settings.h"
#include "app/wait_for.h"
#include "common/log.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/catalog/series_registry.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/cyclic_options.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/engine_store.h"

namespace halite::app {
namespace {

using storage::CellPointStore;
using storage::CyclicLayout;
using storage::CyclicOptions;
using storage::EngineStore;
using storage::OpentsdbLayout;
using storage::UidWidths;

// The layout of the tables and what they are marked with.
struct ChosenLayout {
  std::shared_ptr<const storage::RowLayout> layout;
  storage::TableParameters parameters;
};

class OpenedStores final : public Stores {
 public:
  OpenedStores(boost::asio::any_io_executor executor,
               std::unique_ptr<storage::WideColumnStore> wide, ReplayWatch replayed)
      : executor_(std::move(executor)),
        replayed_(std::move(replayed)),
        wide_(std::move(wide)),
        rocks_(dynamic_cast<storage::RocksStore*>(wide_.get())),
        hbase_(dynamic_cast<storage::HBaseStore*>(wide_.get())) {}

  Result<void> open(const Options& options, const Clock& clock, prometheus::Registry& registry) {
    storage::CellPointStoreOptions cells = options.cells;
    cells.cell_ttl_ms = app::cell_ttl_ms(options.layout);
    // Other daemons, and OpenTSDB, may write the same tables.
    const bool shared = options.store == "hbase";
    cells.scan.shared_tables = shared;
    if (options.store == "engine") {
      TRY(widths_, open_engine(options, cells, clock, registry));
    } else {
      TRY(widths_, open_cells(options, cells, clock, registry));
    }
    storage::Metadata::Parts meta_parts = {.store = *wide_,
                                           .points = points_->store(),
                                           .uids = points_->uids(),
                                           .widths = widths_,
                                           .point_table = storage::data_table_spec(cells),
                                           .point_rows = point_rows_,
                                           .clock = clock,
                                           .executor = executor_,
                                           .registry = registry};
    storage::MetadataOptions meta = options.metadata;
    meta.uid_table = cells.uid_table;
    meta.annotations.exclusive = !shared;
    meta.track.series_max = cells.series_max;
    TRY(metadata_, wait_for(executor_, storage::Metadata::open(std::move(meta_parts), meta)));
    TRY_VOID(open_sides(options, cells, clock, registry));
    // Where series have more than points and metadata that is asked for, none is forgotten.
    const bool tracked = meta.track.series || meta.track.points || meta.track.series_objects;
    const bool sides = rollups_ != nullptr || histograms_ != nullptr;
    TRY(const bool names_stay, keep_names(cells.settings_table, sides));
    if (!sides && !tracked) {
      points_->forget_series(*metadata_, !names_stay && !meta.track.name_objects);
    }
    if (rocks_ != nullptr) begin_scrub(options, cells, clock, registry);
    return {};
  }

  storage::PointStore& points() override { return metadata_->points(); }
  storage::Metadata& metadata() override { return *metadata_; }
  storage::RollupTables* rollups() override { return rollups_.get(); }
  storage::HistogramCells* histograms() override { return histograms_.get(); }

  [[nodiscard]] Result<void> health() const override {
    TRY_VOID(wide_->health());
    return points_->health();
  }

  void drop_caches() override { wide_->drop_caches(); }

  std::unique_ptr<storage::SeriesCensus> make_census(
      const Clock& clock, boost::asio::any_io_executor executor) override {
    return std::make_unique<storage::SeriesCensus>(points_->series(), widths_, clock,
                                                   std::move(executor));
  }

  [[nodiscard]] std::vector<storage::SlotCycle> slot_cycles() const override {
    return points_->slot_cycles();
  }

  Task<storage::TableRegions> table_regions() override {
    if (hbase_ == nullptr) {
      co_return fail(Errc::kUnsupported, "This server does not store points on a cluster");
    }
    auto asking = hbase_->client().regions(points_table_);
    CO_TRY(const std::vector<storage::hbase::RegionStatus> regions, co_await std::move(asking));
    co_return storage::describe_regions(points_table_, regions, point_rows_ == nullptr);
  }

  storage::check::Scrub* scrub() override { return scrub_.get(); }

  Result<void> snapshot(const std::string& dir) override {
    if (rocks_ == nullptr) {
      return fail(Errc::kUnsupported, "This server does not store data in files");
    }
    auto names = [rocks = rocks_, dir] { return rocks->snapshot(dir + "/rocksdb"); };
    return wait_for(executor_, points_->snapshot(dir + "/engine", std::move(names)));
  }

  Result<void> close() override {
    Result<void> flushed;
    scrub_.reset();
    if (metadata_) flushed = wait_for(executor_, metadata_->stop());
    if (points_) {
      const Result<void> drained = wait_for(executor_, points_->close());
      if (flushed) flushed = drained;
    }
    histograms_.reset();
    rollups_.reset();
    metadata_.reset();
    points_.reset();
    Result<void> closed = wait_for(executor_, wide_->close());
    regions_.reset();
    return flushed ? closed : flushed;
  }

 private:
  void begin_scrub(const Options& options, const storage::CellPointStoreOptions& cells,
                   const Clock& clock, prometheus::Registry& registry) {
    storage::EngineOptions engine;
    engine.settings_table = cells.settings_table;
    engine.uid_table = cells.uid_table;
    engine.series_table = cells.series_table;
    scrub_ = std::make_unique<storage::check::Scrub>(
        storage::check::Scrub::Parts{
            .names = *rocks_,
            .chunk_files = [points = points_.get()] { return points->chunk_files(); },
            .files =
                options.ground.files != nullptr ? options.ground.files : storage::posix_files(),
            .engine = std::move(engine),
            .clock = clock,
            .registry = registry},
        options.care.scrub);
  }

  // Rollups and histograms know series by the ids of their names: where there ever were some, no id
  // may come to mean another name, also while they are off. `from_now`: there are some now.
  Result<bool> keep_names(const std::string& settings_table, bool from_now) {
    auto spec = storage::settings_table_spec(settings_table);
    TRY(const std::shared_ptr<storage::Table> settings,
        wait_for(executor_, wide_->open_table(std::move(spec))));
    const storage::Column column{0, "kept"};
    std::vector<storage::RowRead> reads;
    reads.push_back({"names", column.family, {column.qualifier}});
    TRY(const std::vector<storage::Row> rows,
        wait_for(executor_, settings->read(std::move(reads))));
    if (!rows.front().cells.empty()) return true;
    if (!from_now) return false;
    std::vector<storage::RowWrite> writes(1);
    writes[0].row = "names";
    writes[0].puts.push_back({column, {}, 0});
    TRY_VOID(wait_for(executor_, settings->write(std::move(writes))));
    return true;
  }

  // Names would be shared, but the points of another kind of store would seem to be gone.
  Result<void> refuse_points_of(std::string parameters_of, std::string_view store,
                                const Options& options,
                                const storage::CellPointStoreOptions& cells) {
    auto spec = storage::settings_table_spec(cells.settings_table);
    TRY(const std::shared_ptr<storage::Table> settings,
        wait_for(executor_, wide_->open_table(std::move(spec))));
    TRY(const std::optional<storage::TableParameters> made,
        wait_for(executor_, storage::read_parameters(settings, std::move(parameters_of))));
    if (!made) return {};
    return fail(Errc::kConflict,
                fmt::format("data directory {} was created with --store {}; --store {} cannot read "
                            "its points. Start the server with the original store",
                            options.data_dir, store, options.store));
  }

  // Cuts the table of points where it is still to be made.
  Result<void> plan_regions(const Options& options, const storage::RowLayout& layout,
                            storage::CellPointStoreOptions& cells) {
    TRY(const auto table, find_point_table(options, *hbase_, executor_));
    if (table || !options.hbase.store.tables.create) return {};
    TRY(const TablePlan plan, plan_table(options, layout, *hbase_, executor_));
    cells.split_keys = plan.regions.split_keys;
    cells.fixed_regions = plan.regions.fixed;
    return {};
  }

  void watch_regions(const Options& options, std::shared_ptr<const CyclicLayout> layout,
                     const Clock& clock, prometheus::Registry& registry) {
    storage::RegionCare::Parts parts{.client = hbase_->client(),
                                     .table = hbase_->whole_name(options.cells.data_table),
                                     .layout = std::move(layout),
                                     .life = cell_life(options),
                                     .clock = clock,
                                     .registry = registry};
    regions_.emplace(storage::RegionCare(std::move(parts), options.hbase.care), executor_);
  }

  Result<UidWidths> open_cells(const Options& options, storage::CellPointStoreOptions cells,
                               const Clock& clock, prometheus::Registry& registry) {
    if (options.store != "hbase") {
      TRY_VOID(refuse_points_of(std::string(storage::kEngineParameters), "engine", options, cells));
    }
    TRY(const ChosenLayout chosen,
        options.row_layout == "opentsdb"
            ? opentsdb_layout(options)
            : cyclic_layout(options.layout, cells.data_table, cells.settings_table));
    point_rows_ = std::dynamic_pointer_cast<const OpentsdbLayout>(chosen.layout);
    if (hbase_ != nullptr) {
      points_table_ = hbase_->whole_name(cells.data_table);
      TRY_VOID(plan_regions(options, *chosen.layout, cells));
    }
    const CellPointStore::Parts parts = {.store = *wide_,
                                         .layout = chosen.layout,
                                         .parameters = chosen.parameters,
                                         .clock = clock,
                                         .executor = executor_,
                                         .registry = registry};
    TRY(auto store, wait_for(executor_, CellPointStore::open(parts, cells)));
    points_ = std::make_unique<Opened<CellPointStore>>(std::move(store));
    auto ring = std::dynamic_pointer_cast<const CyclicLayout>(chosen.layout);
    if (hbase_ != nullptr && ring != nullptr && ring->ring_slots() != 0) {
      watch_regions(options, std::move(ring), clock, registry);
    }
    return chosen.layout->widths();
  }

  Result<UidWidths> open_engine(const Options& options, const storage::CellPointStoreOptions& cells,
                                const Clock& clock, prometheus::Registry& registry) {
    TRY_VOID(refuse_points_of(cells.data_table, "rocksdb", options, cells));
    storage::EngineOptions engine = options.engine;
    engine.dir = (std::filesystem::path(options.data_dir) / "engine").string();
    engine.series_max = cells.series_max;
    engine.series_bytes_max = cells.series_bytes_max;
    engine.new_series = cells.new_series;
    engine.settings_table = cells.settings_table;
    engine.uid_table = cells.uid_table;
    engine.series_table = cells.series_table;
    TRY(const ChosenLayout chosen,
        cyclic_layout(options.layout, std::string(storage::kEngineParameters),
                      engine.settings_table));
    const EngineStore::Parts parts = {
        .store = *wide_,
        .layout = std::dynamic_pointer_cast<const CyclicLayout>(chosen.layout),
        .clock = clock,
        .files = options.ground.files != nullptr ? options.ground.files : storage::posix_files(),
        .registry = registry,
        .replayed = replayed_};
    TRY(auto store, wait_for(executor_, EngineStore::open(parts, engine)));
    points_ = std::make_unique<Opened<EngineStore>>(std::move(store));
    return chosen.layout->widths();
  }

  static Result<ChosenLayout> opentsdb_layout(const Options& options) {
    TRY(const std::shared_ptr<const OpentsdbLayout> layout,
        OpentsdbLayout::make({.widths = options.layout.widths,
                              .salt_width = static_cast<std::uint8_t>(options.salt_width),
                              .salt_buckets = options.layout.salt_buckets}));
    return ChosenLayout{layout, layout->parameters()};
  }

  // Rollups and histograms, where there are any. Their rows are OpenTSDB's; histograms lie among
  // the points where those have such rows, too.
  Result<void> open_sides(const Options& options, const storage::CellPointStoreOptions& cells,
                          const Clock& clock, prometheus::Registry& registry) {
    TRY(std::optional<storage::RollupConfig> rollups, rollup_config(options));
    TRY(const std::optional<storage::HistogramConfig> histograms, histogram_config(options));
    const bool opentsdb = options.store != "engine" && options.row_layout == "opentsdb";
    const auto salt_width = static_cast<std::uint8_t>(opentsdb ? options.salt_width : 0);
    TRY(const std::shared_ptr<const OpentsdbLayout> rows,
        OpentsdbLayout::make({.widths = options.layout.widths,
                              .salt_width = salt_width,
                              .salt_buckets = options.layout.salt_buckets}));
    if (rollups) {
      storage::RollupTables::Parts parts{.store = *wide_,
                                         .series = points_->series(),
                                         .rows = rows,
                                         .scan = cells.scan,
                                         .data_table = cells.data_table,
                                         .settings_table = cells.settings_table,
                                         .clock = clock,
                                         .registry = registry};
      auto opening = storage::RollupTables::open(std::move(parts), *std::move(rollups));
      TRY(rollups_, wait_for(executor_, std::move(opening)));
    }
    if (histograms) {
      storage::HistogramCells::Parts parts{
          .store = *wide_,
          .series = points_->series(),
          .rows = rows,
          .scan = cells.scan,
          .table = opentsdb ? cells.data_table : cells.data_table + "-histogram",
          .cell_ttl_ms = cells.cell_ttl_ms,
          .settings_table = cells.settings_table,
          .clock = clock,
          .registry = registry};
      auto opening = storage::HistogramCells::open(std::move(parts), *histograms);
      TRY(histograms_, wait_for(executor_, std::move(opening)));
    }
    return {};
  }

  // What the tables were made with decides.
  Result<ChosenLayout> cyclic_layout(const CyclicOptions& configured, std::string parameters_of,
                                     const std::string& settings_table) {
    auto spec = storage::settings_table_spec(settings_table);
    TRY(const std::shared_ptr<storage::Table> settings,
        wait_for(executor_, wide_->open_table(std::move(spec))));
    TRY(const std::optional<storage::TableParameters> stored,
        wait_for(executor_, storage::read_parameters(settings, std::move(parameters_of))));
    CyclicOptions adopted = configured;
    if (stored && stored->layout == storage::kCyclicLayout) {
      TRY(adopted, CyclicLayout::adopt(configured, *stored));
    }
    if (const auto note = storage::idle_slots_note(adopted)) log::warn("{}", *note);
    TRY(const std::shared_ptr<const CyclicLayout> layout, CyclicLayout::make(adopted));
    return ChosenLayout{layout, layout->parameters()};
  }

  boost::asio::any_io_executor executor_;
  const ReplayWatch replayed_;  // may be empty
  std::unique_ptr<storage::WideColumnStore> wide_;
  storage::RocksStore* const rocks_;    // the same, where it is one
  storage::HBaseStore* const hbase_;    // likewise
  std::string points_table_;            // its whole name there
  std::optional<RegionWatch> regions_;  // of a ring in HBase
  std::unique_ptr<OpenedPoints> points_;
  std::unique_ptr<storage::check::Scrub> scrub_;  // null: no files are here
  UidWidths widths_;
  std::shared_ptr<const OpentsdbLayout> point_rows_;  // null: the points have other rows
  std::unique_ptr<storage::Metadata> metadata_;
  std::unique_ptr<storage::RollupTables> rollups_;       // null: off
  std::unique_ptr<storage::HistogramCells> histograms_;  // null: off
};

// A store in memory would neither show what is there nor keep what comes.
Result<void> refuse_stored_points(const std::string& data_dir) {
  for (const std::string_view kept : {"engine", "rocksdb"}) {
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::path(data_dir) / kept, error)) continue;
    return fail(Errc::kConflict,
                fmt::format("data directory {} holds points that --store memory cannot read; start "
                            "with the original store, or with another --data-dir",
                            data_dir));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Stores>> open_stores(const Options& options, const Clock& clock,
                                            boost::asio::any_io_executor executor,
                                            prometheus::Registry& registry, ReplayWatch replayed) {
  std::unique_ptr<storage::WideColumnStore> wide;
  if (options.store == "memory") {
    TRY_VOID(refuse_stored_points(options.data_dir));
    wide = std::make_unique<storage::MemoryStore>(clock);
  } else if (options.store == "hbase") {
    wide = std::make_unique<storage::HBaseStore>(options.hbase.store, clock, registry);
  } else {
    if (options.store == "engine") TRY_VOID(refuse_missing_names(options));
    storage::RocksOptions rocks = options.rocks;
    rocks.dir = (std::filesystem::path(options.data_dir) / "rocksdb").string();
    rocks.files = options.ground.files;
    TRY(wide, storage::RocksStore::open(rocks, clock, registry));
  }
  auto stores =
      std::make_unique<OpenedStores>(std::move(executor), std::move(wide), std::move(replayed));
  const Result<void> opened = stores->open(options, clock, registry);
  if (!opened) {
    const Result<void> closed = stores->close();  // what went wrong first is the one to tell
    static_cast<void>(closed);
    return std::unexpected(opened.error());
  }
  return std::unique_ptr<Stores>(std::move(stores));
}

}  // namespace halite::app
