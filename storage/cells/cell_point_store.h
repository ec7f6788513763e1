// The point store that keeps each point in a cell, on any wide-column store and in either row
// layout.
//
//   auto points = co_await CellPointStore::open(dependencies, options);
//   ...
//   co_await points->close();
//
// It writes the data table (rows of the layout), the name table, a row for each series in the
// series table, and the layout's fixed parameters in the settings table. Opening a table made with
// other parameters is kInvalidArgument, naming both values.
//
//   Threads   call from any thread.
//   Lifetime  call close() before you destroy it, and destroy its scans and selections before it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/clock.h"
#include "storage/api/point_store.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/cell_appender.h"
#include "storage/cells/layouts/row_layout.h"
#include "storage/cells/layouts/table_parameters.h"
#include "storage/cells/row_scan.h"

namespace prometheus {
class Registry;
}

namespace halite::storage {

struct CellPointStoreOptions {
  std::string data_table = "tsdb";
  std::string uid_table = "tsdb-uid";
  std::string series_table = "halite-series";
  std::string settings_table = "halite-settings";
  std::int64_t cell_ttl_ms = 0;  // of the data table; 0 = no expiry
  SeriesId series_max = 100'000'000;
  std::size_t series_bytes_max = 8ull << 30;  // memory of loaded series: see series_bytes()
  NewSeriesLimits new_series;
  AppendLimits append;
  ColumnOptions columns;          // how OpenTSDB's rows are written
  std::vector<Bytes> split_keys;  // of a new data table
  bool fixed_regions = false;     // the table is never split elsewhere
  RowScanOptions scan;
};

// The data table, for other objects that are stored among the points.
[[nodiscard]] TableSpec data_table_spec(const CellPointStoreOptions& options);

class CellPointStore final : public PointStore {
 public:
  // References must outlive the store.
  struct Dependencies {
    WideColumnStore& store;
    std::shared_ptr<const RowLayout> layout;
    TableParameters parameters;  // of the layout
    const Clock& clock;
    boost::asio::any_io_executor executor;  // runs background writes
    prometheus::Registry& registry;
  };

  static Task<std::unique_ptr<CellPointStore>> open(Dependencies dependencies,
                                                    CellPointStoreOptions options);
  ~CellPointStore() override;

  // Waits for running calls. Make no calls after it.
  Task<void> close();

  Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create) override;
  [[nodiscard]] std::vector<OverQuotaMetric> over_quota(std::size_t max) const override;
  [[nodiscard]] const Series& series(SeriesId id) const override;
  Task<Accepted> append(PointBatch batch) override;
  Task<std::shared_ptr<const Selection>> select(SeriesQuery query, ReadContext context) override;
  [[nodiscard]] std::uint32_t shard_count() const override;
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override;
  Task<PinnedSeries> lookup(std::shared_ptr<const Selection> selection, std::size_t limit) override;
  Task<PinnedLastPoints> last(std::shared_ptr<const Selection> selection, TimeRange range) override;
  [[nodiscard]] bool has_local_points() const override { return !options_.scan.shared_tables; }
  Task<ReadEstimate> estimate(std::shared_ptr<const Selection> selection, TimeRange range) override;
  Task<std::uint64_t> delete_range(std::shared_ptr<const Selection> selection,
                                   TimeRange range) override;
  Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix,
                                         std::size_t max) override;
  Task<void> series_names(SeriesNamesQuery query, ReadContext context, NameUse use) override;
  Task<void> settle() override;
  Task<void> flush() override;
  Task<void> seal() override;

  // The name table, to manage names.
  [[nodiscard]] UidTable& uids();

  // Its series, for other data of series.
  [[nodiscard]] SeriesRegistry& registry() { return registry_; }

 private:
  struct Tables {
    std::shared_ptr<Table> data;
    std::shared_ptr<Table> names;
    std::shared_ptr<Table> series;
    NameForm form = NameForm::kUtf8;  // of the name table
  };
  CellPointStore(Dependencies dependencies, CellPointStoreOptions options, Tables tables);

  const std::shared_ptr<const RowLayout> layout_;
  const Clock& clock_;
  const CellPointStoreOptions options_;
  const bool notes_among_points_;  // if rows are OpenTSDB's
  SeriesRegistry registry_;
  const RowSource source_;
  const std::shared_ptr<CellAppender> appender_;
};

}  // namespace halite::storage
