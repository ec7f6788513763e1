#include "app/stores.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "app/wait_for.h"
#include "storage/cell_point_store.h"
#include "storage/memory_store.h"
#include "storage/rocks_store.h"
#include "storage/schema/cyclic_layout.h"
#include "storage/schema/opentsdb_layout.h"
#include "storage/table_settings.h"

namespace halite::app {
namespace {

using storage::CellPointStore;
using storage::CyclicLayout;
using storage::CyclicOptions;
using storage::OpentsdbLayout;

// The layout of the tables and what they are marked with.
struct ChosenLayout {
  std::shared_ptr<const storage::RowLayout> layout;
  storage::TableParameters parameters;
};

class CellStores final : public Stores {
 public:
  CellStores(boost::asio::any_io_executor executor, std::unique_ptr<storage::WideColumnStore> wide)
      : executor_(std::move(executor)), wide_(std::move(wide)) {}

  Result<void> open(const Options& options, const Clock& clock, prometheus::Registry& registry) {
    storage::CellPointStoreOptions cells = options.cells;
    cells.cell_ttl_ms = cell_ttl_ms(options.layout);
    TRY(const ChosenLayout chosen, options.row_layout == "opentsdb"
                                       ? opentsdb_layout(options)
                                       : cyclic_layout(options.layout, cells));
    const CellPointStore::Parts parts = {.store = *wide_,
                                         .layout = chosen.layout,
                                         .parameters = chosen.parameters,
                                         .clock = clock,
                                         .executor = executor_,
                                         .registry = registry};
    TRY(points_, wait_for(executor_, CellPointStore::open(parts, cells)));
    storage::Metadata::Parts meta_parts = {.store = *wide_,
                                           .points = *points_,
                                           .uids = points_->uids(),
                                           .widths = chosen.layout->widths(),
                                           .clock = clock,
                                           .executor = executor_,
                                           .registry = registry};
    storage::MetadataOptions meta = options.metadata;
    meta.uid_table = cells.uid_table;
    meta.track.series_max = cells.series_max;
    TRY(metadata_, wait_for(executor_, storage::Metadata::open(std::move(meta_parts), meta)));
    return {};
  }

  storage::PointStore& points() override { return metadata_->points(); }
  storage::Metadata& metadata() override { return *metadata_; }

  [[nodiscard]] Result<void> health() const override { return wide_->health(); }

  Result<void> close() override {
    Result<void> flushed;
    if (metadata_) flushed = wait_for(executor_, metadata_->stop());
    if (points_) {
      const Result<void> drained = wait_for(executor_, points_->close());
      if (flushed) flushed = drained;
    }
    metadata_.reset();
    points_.reset();
    Result<void> closed = wait_for(executor_, wide_->close());
    return flushed ? closed : flushed;
  }

 private:
  // A cell goes when no question can reach its point any more: it may have been written up to
  // future_max before its time.
  static std::int64_t cell_ttl_ms(const CyclicOptions& layout) {
    return layout.ttl_ms == 0 ? 0 : layout.ttl_ms + layout.future_max_ms;
  }

  static Result<ChosenLayout> opentsdb_layout(const Options& options) {
    TRY(const std::shared_ptr<const OpentsdbLayout> layout,
        OpentsdbLayout::make({.widths = options.layout.widths,
                              .salt_width = static_cast<std::uint8_t>(options.salt_width),
                              .salt_buckets = options.layout.salt_buckets}));
    return ChosenLayout{layout, layout->parameters()};
  }

  // What the tables were made with decides.
  Result<ChosenLayout> cyclic_layout(const CyclicOptions& configured,
                                     const storage::CellPointStoreOptions& cells) {
    auto spec = storage::settings_table_spec(cells.settings_table);
    TRY(const std::shared_ptr<storage::Table> settings,
        wait_for(executor_, wide_->open_table(std::move(spec))));
    TRY(const std::optional<storage::TableParameters> stored,
        wait_for(executor_, storage::read_parameters(settings, cells.data_table)));
    CyclicOptions adopted = configured;
    if (stored && stored->layout == storage::kCyclicLayout) {
      TRY(adopted, CyclicLayout::adopt(configured, *stored));
    }
    TRY(const std::shared_ptr<const CyclicLayout> layout, CyclicLayout::make(adopted));
    return ChosenLayout{layout, layout->parameters()};
  }

  boost::asio::any_io_executor executor_;
  std::unique_ptr<storage::WideColumnStore> wide_;
  std::unique_ptr<CellPointStore> points_;
  std::unique_ptr<storage::Metadata> metadata_;
};

}  // namespace

Result<std::unique_ptr<Stores>> open_stores(const Options& options, const Clock& clock,
                                            boost::asio::any_io_executor executor,
                                            prometheus::Registry& registry) {
  std::unique_ptr<storage::WideColumnStore> wide;
  if (options.store == "memory") {
    wide = std::make_unique<storage::MemoryStore>(clock);
  } else {
    storage::RocksOptions rocks = options.rocks;
    rocks.dir = (std::filesystem::path(options.data_dir) / "rocksdb").string();
    TRY(wide, storage::RocksStore::open(rocks, clock, registry));
  }
  auto stores = std::make_unique<CellStores>(std::move(executor), std::move(wide));
  const Result<void> opened = stores->open(options, clock, registry);
  if (!opened) {
    const Result<void> closed = stores->close();  // what went wrong first is the one to tell
    static_cast<void>(closed);
    return std::unexpected(opened.error());
  }
  return std::unique_ptr<Stores>(std::move(stores));
}

}  // namespace halite::app
