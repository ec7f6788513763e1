#include "app/server/server.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <prometheus/registry.h>

#include "app/server/backup_job.h"
#include "app/server/data_dir.h"
#include "app/server/logging.h"
#include "app/server/memory_rebalancer.h"
#include "app/server/ping_store.h"
#include "app/server/readiness.h"
#include "app/server/rules_reloader.h"
#include "app/server/self_metrics.h"
#include "app/server/shutdown_deadline.h"
#include "app/settings/memory_settings.h"
#include "app/stores/stores.h"
#include "app/tools/check_report.h"
#include "app/tracing/trace_exporter.h"
#include "app/version.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/threads/io_threads.h"
#include "common/units.h"
#include "ingest/histogram_writer.h"
#include "ingest/rollup_writer.h"
#include "ingest/writer.h"
#include "query/engine/engine.h"
#include "query/scan/fetch_limits.h"
#include "web/connection/startup_listener.h"
#include "web/server.h"

namespace halite::app {
namespace {

// Between two checks for an unavailable store.
constexpr std::chrono::milliseconds kWaitMin(500);
constexpr std::chrono::milliseconds kWaitMax(5'000);
// EXTEND_TIMEOUT_USEC of each report during a start: a start without progress for so long hangs.
constexpr std::int64_t kPatienceUs = 15 * 60 * 1'000'000LL;

// Beyond tracing.flush_ms: a name server may be slow.
constexpr std::chrono::seconds kTracesMargin(30);

// The series cache of increments has this part of the size of that of points.
constexpr std::size_t kIncrementCachePart = 8;

std::map<std::string, std::string> setting_texts(const Options& options, const Config& config) {
  if (options.opentsdb.given) return options.opentsdb.properties;
  std::map<std::string, std::string> texts;
  for (const Setting& setting : config.settings()) texts[setting.name] = setting.text;
  return texts;
}

std::string endpoint_text(const std::string& address, std::uint16_t port) {
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port)
                                                : fmt::format("[{}]:{}", address, port);
}

// True if a retry may succeed.
bool may_pass(const Error& error) {
  return error.code == Errc::kUnavailable || error.code == Errc::kTimeout ||
         error.code == Errc::kOverloaded;
}

// Empty if there are none.
std::function<Task<storage::TableRegions>()> regions_of(StoreKind store, Stores& stores) {
  if (store != StoreKind::kHBase) return {};
  return [&stores] { return stores.table_regions(); };
}

// The admin jobs of stores that keep points in files.
std::map<std::string, web::AdminJob, std::less<>> jobs_of(Stores& stores, BackupJob* backup) {
  std::map<std::string, web::AdminJob, std::less<>> jobs;
  if (storage::check::Scrub* const scrub = stores.scrub()) {
    jobs["check"] = {.start = [scrub] { return scrub->begin(); },
                     .state = [scrub] { return scrub_json(scrub->state()); }};
  }
  if (backup != nullptr) {
    jobs["backup"] = {.start = [backup] { return backup->begin(); },
                      .state = [backup] { return backup->state_json(); }};
  }
  return jobs;
}

std::string replay_text(const storage::ReplayProgress& progress) {
  const double percent = progress.bytes_total == 0
                             ? 100
                             : 100 * static_cast<double>(progress.bytes_done) /
                                   static_cast<double>(progress.bytes_total);
  return fmt::format(
      "the store is being opened: {:.1f} of {:.1f} MiB of the log replayed ({:.0f} %)",
      static_cast<double>(progress.bytes_done) / kMiB,
      static_cast<double>(progress.bytes_total) / kMiB, percent);
}

// What a stop abandons when the store did not close in time.
std::string what_waits(const web::WebServer* web) {
  const std::size_t connections = web == nullptr ? 0 : web->connections();
  if (connections == 0) return "queries or own metrics that wait for the store";
  return fmt::format("{} connections that wait for the store", connections);
}

}  // namespace

// In order of creation; members are destroyed in reverse order.
struct Server::Components {
  Components(const Options& wanted, const Config& declared)
      : options(wanted),
        shares(memory_shares(declared)),
        settings(setting_texts(wanted, declared)),
        own_clock(wanted.environment.clock != nullptr ? wanted.environment.clock
                                                      : std::make_shared<SystemClock>()),
        clock(*own_clock),
        web_threads(options.threads.web, "web"),
        query_threads(options.threads.query),
        small_query_threads(options.threads.small_query) {}

  Options options;
  std::vector<MemoryShare> shares;  // of memory.limit
  std::map<std::string, std::string> settings;
  std::shared_ptr<const Clock> own_clock;
  const Clock& clock;
  prometheus::Registry registry;
  std::unique_ptr<TraceExporter> traces;  // null: tracing is off
  std::unique_ptr<DataDir> data_dir;
  IoThreads web_threads;
  boost::asio::thread_pool query_threads;
  boost::asio::thread_pool small_query_threads;
  std::unique_ptr<Stores> stores;
  std::unique_ptr<BackupJob> backup;  // null without local files
  std::unique_ptr<ingest::Writer> writer;
  prometheus::Registry increment_registry;     // not published: the names are those of points
  std::unique_ptr<ingest::Writer> increments;  // of counters
  std::unique_ptr<ingest::RollupWriter> rollups;
  std::unique_ptr<ingest::HistogramWriter> histograms;  // null: off
  std::unique_ptr<query::QueryEngine> engine;
  std::unique_ptr<storage::CardinalityCounter> cardinality_counter;
  std::unique_ptr<web::WebServer> web;
  std::unique_ptr<SelfMetrics> self_metrics;
  std::unique_ptr<MemoryRebalancer> memory;
  std::unique_ptr<web::StartupListener> startup_listener;  // until there is the web server
  std::unique_ptr<RulesReloader> rules;                    // null: no settings file

  Result<void> open_store(const Pause& pause);
  Result<void> open_listener();
  Result<void> open_traces();
  void tell(std::string state);
  Result<void> open_data(const Pause& pause);
  Result<void> listen();
  [[nodiscard]] std::vector<MemoryShare> used_shares();
};

// Detects errors before anything is written: invalid settings, a port in use, a data directory in
// use. From then on, the startup listener answers clients.
Result<void> Server::Components::open_listener() {
  TRY_VOID(query::FetchLimits::check(options.query.fetch));
  TRY_VOID(check_backup_dir(options));
  TRY_VOID(web::check_listen(options.web, web_threads.executors().front()));
  if (has_data_dir(options.store)) {
    TRY(data_dir, options.read_only.wanted
                      ? DataDir::open_to_read(options.data_dir, "; read_only requires a copy")
                      : DataDir::open(options.data_dir));
  }
  TRY(startup_listener, web::StartupListener::open(options.web, "the store is being opened"));
  options.web.port = startup_listener->port();
  log::info("answering 503 on {} until the store is open",
            endpoint_text(options.web.address, options.web.port));
  return open_traces();
}

Result<void> Server::Components::open_traces() {
  if (options.tracing.endpoint.empty()) return {};
  const std::string& host = options.self_metrics.host;
  TRY(traces, TraceExporter::open(options.tracing,
                                  {.service = options.tracing.service_name,
                                   .version = version_info().version,
                                   .instance = endpoint_text(host, options.web.port),
                                   .host = host},
                                  registry));
  return {};
}

// Reports the state to waiting clients and to the service manager, which extends its timeout.
void Server::Components::tell(std::string state) {
  const Result<void> told =
      notify_service_manager(fmt::format("STATUS={}\nEXTEND_TIMEOUT_USEC={}", state, kPatienceUs));
  if (!told) log::warn("{}", told.error().message);
  startup_listener->set_reason(std::move(state));
}

Result<void> Server::Components::open_data(const Pause& pause) {
  const auto replayed = [this, &pause](const storage::ReplayProgress& progress) -> Result<void> {
    if (progress.bytes_total > 0) tell(replay_text(progress));
    if (pause(std::chrono::milliseconds(0))) return {};
    return fail(Errc::kCancelled, "stopped during log replay");
  };
  auto opened = open_stores(options, clock, web_threads.executors().front(), registry, replayed);
  if (!opened) {
    if (options.store == StoreKind::kMemory || options.read_only.wanted) {
      return std::unexpected(opened.error());
    }
    return std::unexpected(explain_full_disk(opened.error(), options.data_dir));
  }
  stores = *std::move(opened);
  if (data_dir != nullptr) {
    backup = std::make_unique<BackupJob>(options, *stores, clock, registry);
  }
  writer = std::make_unique<ingest::Writer>(stores->counters().points(), clock, options.ingest,
                                            registry);
  ingest::IngestOptions increment_options = options.ingest;
  increment_options.telnet_command = "incr";
  increment_options.limits.series_cache_bytes_max /= kIncrementCachePart;
  increments = std::make_unique<ingest::Writer>(stores->counters(), clock,
                                                std::move(increment_options), increment_registry);
  rollups =
      std::make_unique<ingest::RollupWriter>(*writer, stores->rollups(), options.rollups.rules);
  if (stores->histograms() != nullptr) {
    histograms = std::make_unique<ingest::HistogramWriter>(*writer, *stores->histograms());
  }
  cardinality_counter = stores->make_cardinality_counter(clock, query_threads.get_executor());
  engine = std::make_unique<query::QueryEngine>(
      stores->points(), clock, options.query, options.skip_unknown_values,
      query::QueryExecutors{.large = query_threads.get_executor(),
                            .small = small_query_threads.get_executor()},
      registry, &stores->metadata(),
      query::AuxiliarySources{
          .rollups = stores->rollups(),
          .histograms = stores->histograms(),
          .counters = &stores->counters(),
          .views = stores->views(),
          .tags = {options.rollups.rules.aggregate_tag, options.rollups.rules.raw_value}});
  return {};
}

Result<void> Server::Components::open_store(const Pause& pause) {
  TRY_VOID(open_listener());
  for (std::chrono::milliseconds wait = kWaitMin;; wait = std::min(2 * wait, kWaitMax)) {
    Result<void> opened = ping_store(options, clock, web_threads.executors().front());
    if (opened) opened = open_data(pause);
    if (opened || options.store != StoreKind::kHBase || !may_pass(opened.error())) return opened;
    const std::string text = fmt::format("the store is unavailable: {}", opened.error().message);
    log::warn("waiting: {}", text);
    tell(text);
    if (!pause(wait)) return fail(Errc::kCancelled, "stopped while the store was unavailable");
  }
}

Result<void> Server::Components::listen() {
  const web::WebServices services = {.writer = *writer,
                                     .increments = *increments,
                                     .rollups = *rollups,
                                     .histograms = histograms.get(),
                                     .engine = *engine,
                                     .store = stores->points(),
                                     .metadata = stores->metadata(),
                                     .clock = clock,
                                     .registry = registry,
                                     .version = version_info(),
                                     .store_name = std::string(store_name(options.store)),
                                     .started_ms = clock.now_ms(),
                                     .cardinality_counter = cardinality_counter.get(),
                                     .slots = [&kept = *stores] { return kept.retention_status(); },
                                     .regions = regions_of(options.store, *stores),
                                     .views = stores->views(),
                                     .shared_views = stores->shared_views(),
                                     .traces = traces.get(),
                                     .jobs = jobs_of(*stores, backup.get()),
                                     .config = [texts = settings] { return texts; },
                                     .drop_caches = [&kept = *stores] { kept.drop_caches(); },
                                     .log_lines = last_log_lines,
                                     .set_log_level = set_log_level,
                                     .not_ready = [&parts = *stores]() -> std::string {
                                       const Result<void> health = parts.health();
                                       return health ? std::string() : health.error().message;
                                     }};
  web = std::make_unique<web::WebServer>(options.web, services, web_threads.executors().front(),
                                         web_threads.executors());
  TRY_VOID(web->start(startup_listener.get()));
  startup_listener.reset();
  if (options.web.graphite) {
    log::info("listening for Graphite's lines on {}",
              endpoint_text(options.web.graphite->address, web->graphite_port()));
  }
  if (options.web.graphite_pickle) {
    log::info("listening for Graphite's pickles on {}",
              endpoint_text(options.web.graphite_pickle->address, web->graphite_pickle_port()));
  }
  log::info("listening on {}, store {}{}{}", endpoint_text(options.web.address, web->port()),
            store_name(options.store), data_dir ? fmt::format(" in {}", options.data_dir) : "",
            options.read_only.wanted ? ", read-only" : "");
  return {};
}

// The shares that something uses.
std::vector<MemoryShare> Server::Components::used_shares() {
  std::vector<MemoryUser> users = stores->memory_users();
  users.push_back(writer->memory_user());
  for (MemoryUser& user : engine->memory_users()) users.push_back(std::move(user));
  users.push_back(web->memory_user());
  for (MemoryUser& user : users) {
    const auto share = std::ranges::find(shares, user.setting,
                                         [](const MemoryShare& one) { return one.user.setting; });
    if (share != shares.end()) share->user = std::move(user);
  }
  std::erase_if(shares, [](const MemoryShare& share) { return !share.user.used; });
  return std::move(shares);
}

Server::Server(const Options& options, const Config& config)
    : components_(std::make_unique<Components>(options, config)) {}

Server::~Server() {
  if (!components_) return;
  const Result<void> stopped = stop();
  if (!stopped) log::error("while stopping: {}", stopped.error().message);
}

Result<void> Server::start(const Pause& pause) {
  TRY_VOID(components_->open_store(pause));
  TRY_VOID(components_->listen());
  components_->memory = std::make_unique<MemoryRebalancer>(
      components_->options.memory.limit, components_->used_shares(), components_->registry);
  components_->memory->start();
  components_->self_metrics = std::make_unique<SelfMetrics>(
      components_->options, *components_->stores, *components_->writer, components_->registry,
      components_->clock, components_->web_threads.executors().front());
  components_->self_metrics->start();
  return {};
}

void Server::follow(SettingsFile file) {
  components_->rules =
      std::make_unique<RulesReloader>(components_->options, std::move(file), *components_->stores);
}

Result<void> Server::stop() {
  Components& parts = *components_;
  ShutdownDeadline deadline;
  const web::WebOptions& limits = parts.options.web;
  deadline.allow(std::chrono::milliseconds(limits.stop_timeout_ms + limits.abandon_timeout_ms),
                 [&parts] { return what_waits(parts.web.get()); });
  parts.startup_listener.reset();
  parts.rules.reset();
  if (parts.cardinality_counter) parts.cardinality_counter->stop();
  if (parts.web) parts.web->stop();
  if (parts.traces) parts.traces->begin_stop();  // it sends while the store closes
  if (parts.self_metrics) parts.self_metrics->stop();
  if (parts.memory) parts.memory->stop();
  parts.query_threads.join();  // no session is left to query
  parts.small_query_threads.join();
  deadline.allow(std::chrono::milliseconds(parts.options.close_timeout_ms),
                 [] { return std::string("closing the store, so the next start takes longer"); });
  parts.self_metrics.reset();
  parts.memory.reset();
  parts.web.reset();
  parts.cardinality_counter.reset();
  parts.engine.reset();
  parts.histograms.reset();
  parts.rollups.reset();
  parts.increments.reset();
  parts.writer.reset();
  parts.backup.reset();
  Result<void> closed;
  if (parts.stores) closed = parts.stores->close();
  parts.stores.reset();
  parts.web_threads.join();
  deadline.allow(std::chrono::milliseconds(parts.options.tracing.flush_ms) + kTracesMargin,
                 [] { return std::string("traces that wait to be sent"); });
  parts.data_dir.reset();
  parts.traces.reset();
  return closed;
}

std::uint16_t Server::port() const { return components_->web->port(); }

}  // namespace halite::app
