// A server with shared views, for tests: over stores that several of them share.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/thread_pool.hpp>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "storage/cells/cell_point_store.h"
#include "storage/views/shared/shared_views.h"

namespace halite::test {

// Tables for 1h and 5m; 1m is the default.
storage::RollupConfig config_of_hours();

class ViewDaemon {
 public:
  // Points have OpenTSDB's rows with three salts. `id` differs between daemons.
  ViewDaemon(storage::WideColumnStore& cells, const Clock& clock, char id);
  ~ViewDaemon();

  // The host of daemon 'a' is "host-a".
  Result<void> open(std::string_view rules, storage::AggregateNames names = {});

  storage::SeriesId series(SeriesName name);
  void append(storage::PointBatch batch);
  // A point of the metric "m".
  void put(const std::string& host, const std::string& dc, TimestampMs time, double value);
  void remove(const std::string& host, TimeRange range);
  // A rollup for 1h, as its sender writes it.
  void send(SeriesName name, bool pre_aggregated, std::uint8_t id, std::int64_t time_s,
            std::int64_t value);

  // Renews the lease, and computes until there is nothing to do.
  void build();
  double units_computed();
  double rows_skipped();
  [[nodiscard]] storage::PointRowsTable points() const;

  std::unique_ptr<storage::SharedViews> views;

 private:
  double metric(const std::string& name);

  storage::WideColumnStore& cells_;
  const Clock& clock_;
  const char id_;
  prometheus::Registry metrics_;
  boost::asio::thread_pool pool_{1};
  std::shared_ptr<const storage::OpentsdbLayout> rows_;
  std::unique_ptr<storage::CellPointStore> points_;
  std::unique_ptr<storage::RollupTables> rollups_;
  std::shared_ptr<storage::Table> point_table_;
};

}  // namespace halite::test
