// The stores a server runs on, chosen and opened: the only place of the server that names them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "app/options.h"
#include "common/clock.h"
#include "storage/api/point_store.h"
#include "storage/api/slot_status.h"
#include "storage/backends/hbase/regions/table_regions.h"
#include "storage/catalog/cardinality.h"
#include "storage/cells/rollups/histogram_cells.h"
#include "storage/cells/rollups/rollup_tables.h"
#include "storage/meta/metadata.h"
#include "storage/tools/check/scrub.h"
#include "storage/tsdb/wal/log.h"

namespace prometheus {
class Registry;
}

namespace halite::app {

class Stores {
 public:
  virtual ~Stores() = default;
  [[nodiscard]] virtual storage::PointStore& points() = 0;
  [[nodiscard]] virtual storage::Metadata& metadata() = 0;
  // nullptr: they are off.
  [[nodiscard]] virtual storage::RollupTables* rollups() = 0;
  [[nodiscard]] virtual storage::HistogramCells* histograms() = 0;
  // kUnavailable with the reason while points cannot be made durable.
  [[nodiscard]] virtual Result<void> health() const = 0;
  virtual void drop_caches() = 0;  // any thread
  // Counts series on the executor; the stores outlive it.
  [[nodiscard]] virtual std::unique_ptr<storage::CardinalityCounter> make_cardinality_counter(
      const Clock& clock, boost::asio::any_io_executor executor) = 0;
  // What is in slots; nothing where points are kept otherwise. Any thread.
  [[nodiscard]] virtual std::vector<storage::RetentionStatus> retention_status() const = 0;
  // Where the points lie on a cluster. kUnsupported: on none. Any thread.
  [[nodiscard]] virtual Task<storage::TableRegions> table_regions() = 0;
  // What reads stored files over and over; null: none are kept here.
  [[nodiscard]] virtual storage::check::Scrub* scrub() = 0;
  // `dir`, which is not there, becomes a data directory with all that was acknowledged before the
  // call. Blocks; not from one of the executor's threads. kUnsupported: nothing is kept in files
  // here.
  [[nodiscard]] virtual Result<void> checkpoint(const std::string& dir) = 0;
  // Everything becomes durable, files close. No call may follow. All is closed even when an error
  // is returned: the first one.
  virtual Result<void> close() = 0;
};

// Told how much of its log the store has replayed, on one of the executor's threads. An error, such
// as kCancelled, ends open_stores() with it.
using ReplayWatch = std::function<Result<void>(const storage::ReplayProgress&)>;

// Blocks while the store replays its log. Clock, registry and the executor's threads outlive it;
// call this and close() from a thread that is not one of them.
[[nodiscard]] Result<std::unique_ptr<Stores>> open_stores(const Options& options,
                                                          const Clock& clock,
                                                          boost::asio::any_io_executor executor,
                                                          prometheus::Registry& registry,
                                                          ReplayWatch replayed = {});

}  // namespace halite::app
