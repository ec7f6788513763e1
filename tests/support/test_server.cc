#include "tests/support/test_server.h"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <prometheus/registry.h>

#include "common/check.h"
#include "ingest/histogram_writer.h"
#include "ingest/rollup_writer.h"
#include "query/engine/engine.h"
#include "query/parse/aggregator.h"
#include "storage/api/slot_status.h"
#include "storage/backends/hbase/regions/table_regions.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/catalog/cardinality.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/counters/counter_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/cells/rollups/histogram_cells.h"
#include "storage/cells/rollups/rollup_tables.h"
#include "storage/meta/metadata.h"
#include "tests/support/metric_value.h"
#include "web/server.h"

namespace halite::test {

namespace asio = boost::asio;

namespace {

template <class T>
T must(Result<T> result) {
  HALITE_CHECK(result, result ? std::string() : result.error().message);
  return std::move(*result);
}

}  // namespace

struct TestServer::Components {
  explicit Components(TestServerOptions options);
  ~Components();

  template <class T>
  Result<T> wait_for(Task<T> task) {
    return asio::co_spawn(io, std::move(task), asio::use_future).get();
  }
  std::unique_ptr<storage::CellPointStore> open_points();
  void open_counters(const TestServerOptions& options);
  void open_sides(const TestServerOptions& options);

  FakeClock clock;
  prometheus::Registry registry;
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  std::vector<std::thread> threads;
  storage::MemoryStore memory;
  Unruly unruly;
  UnrulyStore tables;
  std::unique_ptr<storage::CellPointStore> points;
  std::unique_ptr<storage::Metadata> metadata;
  std::unique_ptr<storage::RollupTables> rollup_tables;
  std::unique_ptr<storage::HistogramCells> histogram_cells;
  std::unique_ptr<storage::CounterStore> counters;
  std::unique_ptr<ingest::Writer> writer;
  prometheus::Registry increment_registry;
  std::unique_ptr<ingest::Writer> increments;
  std::unique_ptr<ingest::RollupWriter> rollups;
  std::unique_ptr<ingest::HistogramWriter> histograms;
  std::unique_ptr<query::QueryEngine> engine;
  std::unique_ptr<storage::CardinalityCounter> cardinality_counter;
  std::unique_ptr<web::WebServices> services;
  std::unique_ptr<web::WebServer> server;
};

TestServer::Components::Components(TestServerOptions options)
    : clock(options.now_ms),
      work(io.get_executor()),
      memory(clock),
      tables(memory, options.unruly_table, unruly) {
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    threads.emplace_back([this] { io.run(); });
  }
  points = open_points();
  storage::Metadata::Dependencies meta_parts{.store = tables,
                                             .points = *points,
                                             .uids = points->uids(),
                                             .widths = {},
                                             .point_table = {},
                                             .point_rows = nullptr,
                                             .clock = clock,
                                             .executor = io.get_executor(),
                                             .registry = registry};
  metadata = must(wait_for(storage::Metadata::open(std::move(meta_parts), options.metadata)));
  open_counters(options);
  writer = std::make_unique<ingest::Writer>(counters->points(), clock, options.ingest, registry);
  ingest::IngestOptions increment_options = options.ingest;
  increment_options.telnet_command = "incr";
  increments =
      std::make_unique<ingest::Writer>(*counters, clock, increment_options, increment_registry);
  open_sides(options);
  engine = std::make_unique<query::QueryEngine>(
      *points, clock, options.query, options.skip_unknown_values,
      query::QueryExecutors{.large = io.get_executor(), .small = io.get_executor()}, registry,
      metadata.get(),
      query::AuxiliarySources{.rollups = rollup_tables.get(),
                              .histograms = histogram_cells.get(),
                              .counters = counters.get(),
                              .tags = {}});
  cardinality_counter = std::make_unique<storage::CardinalityCounter>(
      points->registry(), storage::UidWidths{}, clock, io.get_executor());
  options.web.port = 0;
  services = std::make_unique<web::WebServices>(web::WebServices{
      .writer = *writer,
      .increments = *increments,
      .rollups = *rollups,
      .histograms = histograms.get(),
      .engine = *engine,
      .store = *points,
      .metadata = *metadata,
      .clock = clock,
      .registry = registry,
      .version = {.version = "2.4.1-halite",
                  .short_revision = "abcdef1",
                  .full_revision = "abcdef1234567890",
                  .repo_status = "MINT",
                  .built_s = 1'356'998'400,
                  .user = "builder",
                  .host = "here",
                  .repo = "/src/halite",
                  .branch = "main"},
      .store_name = "memory",
      .started_ms = options.now_ms,
      .cardinality_counter = cardinality_counter.get(),
      .slots =
          [] {
            return std::vector<storage::RetentionStatus>{{.prefix = "tmp.",
                                                          .ttl_ms = 86'400'000,
                                                          .span_ms = 3'600'000,
                                                          .ring_slots = 48,
                                                          .slots = {{.slot = 3,
                                                                     .period = 376'944,
                                                                     .bytes = 512,
                                                                     .files = 2,
                                                                     .sealed = true,
                                                                     .late = false}}}};
          },
      .regions = []() -> Task<storage::TableRegions> {
        co_return storage::TableRegions{
            .table = "tsdb",
            .regions = {{.from = "the first row",
                         .server = "rs1:16020",
                         .reads = 5,
                         .writes = 90'000,
                         .files = 2,
                         .files_mib = 12,
                         .memory_mib = 3,
                         .hot = true},
                        {.from = "salt 1 slot 0", .server = "rs1:16020", .reads = 7},
                        {.from = "salt 2 slot 0", .server = "", .reads = 0}}};
      },
      .traces = options.traces,
      .config =
          [] {
            return std::map<std::string, std::string>{{"auth.passwords_waiting_max", "64"},
                                                      {"tsd.mode", "rw"},
                                                      {"tsd.some.password", "secret"}};
          },
      .drop_caches = options.drop_caches,
      .log_lines =
          [] {
            return std::vector<web::LogLine>{{1356998401, "WARN", "7", "halite", "two\nlines"},
                                             {1356998400, "INFO", "7", "halite", "listening"}};
          },
      .set_log_level = [](std::string_view level, std::string_view logger) -> Result<int> {
        if (level != "DEBUG") {
          return fail(Errc::kInvalidArgument, "Invalid level: " + std::string(level));
        }
        return logger.empty() ? 1 : 0;
      },
      .not_ready = [text = options.not_ready] { return text; }});
  server = std::make_unique<web::WebServer>(options.web, *services, io.get_executor());
  const Result<void> started = server->start();
  HALITE_CHECK(started, started ? std::string() : started.error().message);
}

void TestServer::Components::open_counters(const TestServerOptions& options) {
  storage::CounterStore::Dependencies parts{.store = tables,
                                            .points = metadata->points(),
                                            .series = points->registry(),
                                            .rows = must(storage::OpentsdbLayout::make({})),
                                            .scan = {},
                                            .data_table = "tsdb",
                                            .settings_table = "halite-settings",
                                            .clock = clock,
                                            .executor = io.get_executor(),
                                            .registry = registry};
  storage::CounterRules rules = must(storage::CounterRules::parse(options.counters, 0));
  counters = must(wait_for(storage::CounterStore::open(std::move(parts), std::move(rules), {})));
}

void TestServer::Components::open_sides(const TestServerOptions& options) {
  const std::shared_ptr<const storage::OpentsdbLayout> rows =
      must(storage::OpentsdbLayout::make({}));
  if (!options.rollups.empty()) {
    auto config = must(storage::parse_rollup_config(options.rollups, query::aggregator_names()));
    rollup_tables = must(wait_for(storage::RollupTables::open({.store = tables,
                                                               .series = points->registry(),
                                                               .rows = rows,
                                                               .scan = {},
                                                               .data_table = "tsdb",
                                                               .settings_table = "halite-settings",
                                                               .clock = clock,
                                                               .registry = registry},
                                                              std::move(config))));
  }
  rollups = std::make_unique<ingest::RollupWriter>(
      *writer, rollup_tables.get(),
      ingest::RollupOptions{.aggregators = query::aggregator_names()});
  if (options.histograms.empty()) return;
  histogram_cells = must(wait_for(
      storage::HistogramCells::open({.store = tables,
                                     .series = points->registry(),
                                     .rows = rows,
                                     .scan = {},
                                     .table = "tsdb-histogram",
                                     .cell_ttl_ms = 0,
                                     .settings_table = "halite-settings",
                                     .clock = clock,
                                     .registry = registry},
                                    must(storage::parse_histogram_config(options.histograms)))));
  histograms = std::make_unique<ingest::HistogramWriter>(*writer, *histogram_cells);
}

std::unique_ptr<storage::CellPointStore> TestServer::Components::open_points() {
  std::unique_ptr<storage::CyclicLayout> layout = must(storage::CyclicLayout::make({}));
  const storage::TableParameters parameters = layout->parameters();
  storage::CellPointStore::Dependencies dependencies{.store = tables,
                                                     .layout = std::move(layout),
                                                     .parameters = parameters,
                                                     .clock = clock,
                                                     .executor = io.get_executor(),
                                                     .registry = registry};
  return must(wait_for(storage::CellPointStore::open(std::move(dependencies), {})));
}

TestServer::Components::~Components() {
  server->stop();
  server.reset();
  cardinality_counter.reset();
  engine.reset();
  histograms.reset();
  rollups.reset();
  increments.reset();
  writer.reset();
  const Result<void> added = wait_for(counters->close());
  HALITE_CHECK(added, added ? std::string() : added.error().message);
  const Result<void> stopped = wait_for(metadata->stop());
  HALITE_CHECK(stopped, stopped ? std::string() : stopped.error().message);
  histogram_cells.reset();
  rollup_tables.reset();
  metadata.reset();
  const Result<void> closed = wait_for(points->close());
  HALITE_CHECK(closed, closed ? std::string() : closed.error().message);
  work.reset();
  for (std::thread& thread : threads) thread.join();
}

TestServer::TestServer(TestServerOptions options)
    : components_(std::make_unique<Components>(std::move(options))) {}
TestServer::~TestServer() = default;

void TestServer::stop() { components_->server->stop(); }
std::uint16_t TestServer::port() const { return components_->server->port(); }
std::uint16_t TestServer::graphite_port() const { return components_->server->graphite_port(); }
std::uint16_t TestServer::graphite_pickle_port() const {
  return components_->server->graphite_pickle_port();
}
FakeClock& TestServer::clock() { return components_->clock; }
storage::PointStore& TestServer::store() { return *components_->points; }
const web::WebServices& TestServer::services() const { return *components_->services; }
Unruly& TestServer::tables() { return components_->unruly; }

double TestServer::metric(const std::string& name, const std::string& label,
                          const std::string& value) const {
  prometheus::Labels wanted;
  if (!label.empty()) wanted.emplace(label, value);
  return std::max(0.0, metric_value(components_->registry, name, wanted));
}

}  // namespace halite::test
