// What an opener of a store creates. Each kind has an opener in a file of its name.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "app/server/region_compactor_thread.h"
#include "app/stores/point_store_handle.h"
#include "app/stores/stores.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::app {

// The inputs of an opener. They outlive the store.
struct OpenContext {
  const Options& options;
  const storage::CellPointStoreOptions& cells;  // options.cells, completed
  const Clock& clock;
  const boost::asio::any_io_executor& executor;
  prometheus::Registry& registry;
  const ReplayWatch& replayed;  // may be empty
};

struct Backend {
  std::unique_ptr<storage::WideColumnStore>
      wide;                              // cells: names, metadata, and points of some kinds
  storage::RocksStore* rocks = nullptr;  // `wide`, if it is on disk
  std::unique_ptr<PointStoreHandle> points;
  storage::UidWidths widths;
  std::shared_ptr<const storage::OpentsdbLayout> point_rows;  // null: they have another layout
  // The regions of the points on a cluster; empty without a cluster.
  std::function<Task<storage::TableRegions>()> table_regions;
  // Empty without a cluster.
  std::function<Result<std::unique_ptr<storage::PointLoader>>(const PointLoad&)> make_point_loader;
  std::optional<RegionCompactorThread> region_watch;  // ends after `wide` is closed
};

// Each fills `to`. After an error, the caller closes what `to` contains.
[[nodiscard]] Result<void> open_engine(const OpenContext& context, Backend& to);
[[nodiscard]] Result<void> open_rocksdb(const OpenContext& context, Backend& to);
[[nodiscard]] Result<void> open_memory(const OpenContext& context, Backend& to);
[[nodiscard]] Result<void> open_hbase(const OpenContext& context, Backend& to);

}  // namespace halite::app
