#include "tests/unit/storage/views/shared/view_daemon.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/run_task.h"

namespace halite::test {

using storage::CellPointStore;
using storage::CellPointStoreOptions;
using storage::FilterType;
using storage::OpentsdbLayout;
using storage::OpentsdbOptions;
using storage::PointBatch;
using storage::RollupConfig;
using storage::RollupSpan;
using storage::RollupTables;
using storage::RollupWrite;
using storage::SeriesId;
using storage::SeriesQuery;
using storage::SharedViews;

RollupConfig config_of_hours() {
  RollupConfig config;
  config.ids = {{"sum", 0}, {"count", 1}, {"min", 2}, {"max", 3}};
  config.tables = {{.interval = "1m",
                    .cells = {.seconds = 60, .span = RollupSpan::kHours},
                    .table = "tsdb",
                    .pre_aggregate = "preagg-1m",
                    .is_default = true},
                   {.interval = "1h",
                    .cells = {.seconds = 3600, .span = RollupSpan::kDay},
                    .table = "rollup-1h",
                    .pre_aggregate = "preagg-1h"},
                   {.interval = "5m",
                    .cells = {.seconds = 300, .span = RollupSpan::kDay},
                    .table = "rollup-5m",
                    .pre_aggregate = "preagg-5m"}};
  return config;
}

ViewDaemon::ViewDaemon(storage::WideColumnStore& cells, const Clock& clock, char id)
    : cells_(cells), clock_(clock), id_(id) {
  OpentsdbOptions salted;
  salted.salt_width = 1;
  salted.salt_buckets = 3;
  rows_ = OpentsdbLayout::make(salted).value();
  CellPointStoreOptions options;
  options.scan.shared_tables = true;
  points_ = run_task(CellPointStore::open(
                         {cells, rows_, rows_->parameters(), clock, pool_.get_executor(), metrics_},
                         options))
                .value();
  rollups_ = run_task(RollupTables::open({.store = cells,
                                          .series = points_->registry(),
                                          .rows = rows_,
                                          .scan = options.scan,
                                          .data_table = options.data_table,
                                          .settings_table = options.settings_table,
                                          .clock = clock,
                                          .registry = metrics_},
                                         config_of_hours()))
                 .value();
  point_table_ = run_task(cells.open_table(storage::data_table_spec(options))).value();
}

ViewDaemon::~ViewDaemon() {
  views.reset();
  EXPECT_TRUE(run_task(points_->close()));
  pool_.join();
}

Result<void> ViewDaemon::open(std::string_view rules, storage::AggregateNames names) {
  auto opened = run_task(SharedViews::open({.views = {.store = cells_,
                                                      .points = *points_,
                                                      .uids = points_->uids(),
                                                      .widths = rows_->widths(),
                                                      .table = "halite-views",
                                                      .clock = clock_,
                                                      .ttl_ms = [](std::string_view) { return 0; },
                                                      .registry = metrics_},
                                            .rollups = *rollups_,
                                            .points = points(),
                                            .names = std::move(names),
                                            .lease_id = Bytes(storage::ViewLease::kIdBytes, id_),
                                            .host = std::string("host-") + id_},
                                           storage::parse_view_rules(rules).value(), {}));
  if (!opened) return std::unexpected(opened.error());
  views = *std::move(opened);
  return {};
}

SeriesId ViewDaemon::series(SeriesName name) {
  return run_task(points_->intern({std::move(name)}, {})).value().front().value();
}

void ViewDaemon::append(PointBatch batch) {
  ASSERT_TRUE(run_task(points_->append(std::move(batch))));
  ASSERT_TRUE(run_task(points_->settle()));
}

void ViewDaemon::put(const std::string& host, const std::string& dc, TimestampMs time,
                     double value) {
  PointBatch batch;
  batch.add(series({"m", {{"dc", dc}, {"host", host}}}), time, double_bits(value), kFloat);
  append(std::move(batch));
}

void ViewDaemon::remove(const std::string& host, TimeRange range) {
  SeriesQuery query;
  query.metric = "m";
  query.filters.push_back({.type = FilterType::kLiteralOr, .key = "host", .pattern = host});
  const auto selection = run_task(points_->select(std::move(query), {})).value();
  ASSERT_TRUE(run_task(points_->delete_range(selection, range)));
}

void ViewDaemon::send(SeriesName name, bool pre_aggregated, std::uint8_t id, std::int64_t time_s,
                      std::int64_t value) {
  std::vector<RollupWrite> writes;
  writes.push_back({.series = series(std::move(name)),
                    .table = rollups_->config().find("1h"),
                    .pre_aggregated = pre_aggregated,
                    .aggregator = id,
                    .time_s = time_s,
                    .value = integer_bits(value)});
  ASSERT_TRUE(run_task(rollups_->write(std::move(writes))).value().empty());
}

void ViewDaemon::build() {
  ASSERT_TRUE(run_task(views->keep_lease()));
  while (true) {
    const Result<bool> built = run_task(views->build_some());
    ASSERT_TRUE(built) << built.error().message;
    if (!*built) return;
  }
}

double ViewDaemon::units_computed() { return metric("halite_views_units_total"); }

double ViewDaemon::rows_skipped() { return metric("halite_views_unreadable_rows_total"); }

storage::PointRowsTable ViewDaemon::points() const {
  return {.table = point_table_, .family = 0, .rows = rows_};
}

double ViewDaemon::metric(const std::string& name) {
  for (const auto& family : metrics_.Collect()) {
    if (family.name == name) return family.metric.front().counter.value;
  }
  return 0;
}

}  // namespace halite::test
