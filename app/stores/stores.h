// Opens the stores that a server uses. Nothing else in the server names a kind of store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "app/settings/options.h"
#include "common/clock.h"
#include "common/memory_budget.h"
#include "storage/api/point_store.h"
#include "storage/api/slot_status.h"
#include "storage/backends/hbase/hfile/block_writer.h"
#include "storage/backends/hbase/point_load/point_loader.h"
#include "storage/backends/hbase/regions/table_regions.h"
#include "storage/catalog/cardinality.h"
#include "storage/cells/counters/counter_store.h"
#include "storage/cells/rollups/histogram_cells.h"
#include "storage/cells/rollups/rollup_tables.h"
#include "storage/meta/metadata.h"
#include "storage/tools/check/scrub.h"
#include "storage/tsdb/wal/log.h"
#include "storage/views/shared/shared_views.h"
#include "storage/views/view_store.h"

namespace prometheus {
class Registry;
}

namespace halite::app {

// How to load points into HBase as files.
struct PointLoad {
  std::string url;         // where region servers find the files: load_directory.h
  bool fill_gaps = false;  // existing points stay
  std::optional<storage::hbase::HFileCompression> compression = {};  // nothing: as the table's
};

class Stores {
 public:
  virtual ~Stores() = default;
  [[nodiscard]] virtual storage::PointStore& points() = 0;
  [[nodiscard]] virtual storage::Metadata& metadata() = 0;
  [[nodiscard]] virtual storage::CounterStore& counters() = 0;
  // nullptr if other processes may write points.
  [[nodiscard]] virtual storage::ViewStore* views() = 0;
  // Replaces the rules by those of the options. Block; do not call them from a thread of the
  // executor.
  [[nodiscard]] virtual Result<void> set_counter_rules(const Options& options) = 0;
  [[nodiscard]] virtual Result<void> set_view_rules(const Options& options) = 0;
  // nullptr without views, or if no other process may write points.
  [[nodiscard]] virtual storage::SharedViews* shared_views() = 0;
  // nullptr if they are off.
  [[nodiscard]] virtual storage::RollupTables* rollups() = 0;
  [[nodiscard]] virtual storage::HistogramCells* histograms() = 0;
  // kUnavailable with the reason while points cannot be made durable.
  [[nodiscard]] virtual Result<void> health() const = 0;
  virtual void drop_caches() = 0;  // call from any thread
  // Caches and buffers. They are used until close().
  [[nodiscard]] virtual std::vector<MemoryUser> memory_users() = 0;
  // Counts series on the executor. The stores outlive the counter.
  [[nodiscard]] virtual std::unique_ptr<storage::CardinalityCounter> make_cardinality_counter(
      const Clock& clock, boost::asio::any_io_executor executor) = 0;
  // The slots in use; empty for stores without slots. Call from any thread.
  [[nodiscard]] virtual std::vector<storage::RetentionStatus> retention_status() const = 0;
  // The regions of the points on a cluster. kUnsupported without a cluster. Call from any thread.
  [[nodiscard]] virtual Task<storage::TableRegions> table_regions() = 0;
  // Loads points into the point table as files. The stores outlive it, and series are interned by
  // points(). It does not count points for TSMeta. kUnsupported without a cluster. Blocks; do not
  // call it from a thread of the executor.
  [[nodiscard]] virtual Result<std::unique_ptr<storage::PointLoader>> make_point_loader(
      const PointLoad& how) = 0;
  // The scrub of stored files; null without local files.
  [[nodiscard]] virtual storage::check::Scrub* scrub() = 0;
  // Creates `dir`, a data directory with everything acknowledged before the call. Blocks; do not
  // call it from a thread of the executor. kUnsupported without local files.
  [[nodiscard]] virtual Result<void> checkpoint(const std::string& dir) = 0;
  // Makes everything durable and closes all files, even after an error; returns the first one. Make
  // no further calls.
  virtual Result<void> close() = 0;
};

// Receives the progress of the replay, on a thread of the executor. An error, such as kCancelled,
// ends open_stores() with it.
using ReplayWatch = std::function<Result<void>(const storage::ReplayProgress&)>;

// Blocks during the replay. Clock, registry and the executor's threads outlive the stores. Call
// this and close() from a thread that does not run the executor.
[[nodiscard]] Result<std::unique_ptr<Stores>> open_stores(const Options& options,
                                                          const Clock& clock,
                                                          boost::asio::any_io_executor executor,
                                                          prometheus::Registry& registry,
                                                          ReplayWatch replayed = {});

}  // namespace halite::app
