#include "app/server/metrics_reference.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <prometheus/registry.h>

#include "app/server/server.h"
#include "app/server/wait_for.h"
#include "app/settings/options.h"
#include "common/clock.h"
#include "common/config/config.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/threads/io_threads.h"
#include "storage/backends/hbase/regions/region_compactor.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/views/shared/changed_rows.h"
#include "web/stats.h"

namespace halite::app {
namespace {

struct MetricGroup {
  std::string_view prefix;
  std::string_view title;
  std::string_view text;
};

// The first matching prefix wins.
constexpr std::array kMetricGroups = {
    MetricGroup{"halite_auth_", "Authentication", ""},
    MetricGroup{"halite_backup_", "Backups", "With a data directory and `engine.backup_dir`."},
    MetricGroup{"halite_disk_", "Disk", "With a data directory."},
    MetricGroup{"halite_engine_", "Embedded engine", "With `--store engine`."},
    MetricGroup{"halite_hbase_", "HBase", "With `--store hbase`."},
    MetricGroup{"halite_ingest_", "Ingest", ""},
    MetricGroup{"halite_log_", "Write-ahead log", "With `--store engine`."},
    MetricGroup{"halite_memory_", "Memory", ""},
    MetricGroup{"halite_meta_", "Metadata", ""},
    MetricGroup{"halite_new_", "New series", ""},
    MetricGroup{"halite_process_", "Process", ""},
    MetricGroup{"halite_query_", "Queries", ""},
    MetricGroup{"halite_rocksdb_", "RocksDB", "With `--store engine` and `--store rocksdb`."},
    MetricGroup{"halite_scrub_", "Background check",
                "With `--store engine` and `--store rocksdb`."},
    MetricGroup{
        "halite_storage_", "Cell stores and RocksDB's log",
        "Points, rollups and histograms that are stored as cells, and the log of the embedded "
        "RocksDB store."},
    MetricGroup{"halite_tracing_", "Traces", "With `tracing.endpoint`."},
    MetricGroup{"halite_web_", "HTTP and telnet", ""},
};

constexpr std::string_view kMetricsHead = R"(# Metrics reference

<!-- Written by `halite metrics`. Do not edit. -->

The server reports each metric in three places:

| Place | Name | Example |
|---|---|---|
| `/metrics`, for Prometheus | as in the tables below | `halite_web_read_bytes_total` |
| `/api/stats`, `/stats` and telnet `stats` | `tsd.` in front, the first two `_` become `.` | `tsd.halite.web.read_bytes_total` |
| stored points, with `self_metrics.enabled` | the first two `_` become `.` | `halite.web.read_bytes_total` |

A *counter* only grows until the server restarts. A *gauge* goes up and down. A *histogram* counts
observations in buckets: `/metrics` has `_bucket`, `_sum` and `_count`; the other two places have `.sum` and `.count`.
The column *Labels* lists the names of the Prometheus labels, which are tags in the other two places.
A metric appears only if the server uses the part that reports it, such as one store.
)";

constexpr std::string_view kOpentsdbHead = R"(
## OpenTSDB's names

`/api/stats`, `/stats` and telnet `stats` also report these names of OpenTSDB. `/metrics` does not.

| Name | Tag `type` | Sum of |
|---|---|---|
)";

constexpr std::string_view kRollups =
    R"({"aggregationIds":{"sum":0,"count":1},"intervals":[{"table":"tsdb",)"
    R"("preAggregationTable":"preagg","interval":"1m","rowSpan":"1h","defaultInterval":true},)"
    R"({"table":"hourly","preAggregationTable":"preagg-1h","interval":"1h","rowSpan":"1d"}]})";
constexpr std::string_view kHistograms = R"({"net.opentsdb.core.SimpleHistogramDecoder":42})";

class TemporaryDir {
 public:
  static Result<std::unique_ptr<TemporaryDir>> make() {
    std::string name = (std::filesystem::temp_directory_path() / "halite-metrics-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      return fail(Errc::kUnavailable,
                  fmt::format("cannot create {}: {}", name, std::strerror(errno)));
    }
    return std::unique_ptr<TemporaryDir>(new TemporaryDir(std::move(name)));
  }
  ~TemporaryDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryDir(const TemporaryDir&) = delete;
  TemporaryDir& operator=(const TemporaryDir&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Result<void> register_server(StoreKind store, const std::string& data_dir) {
  Options options;
  Config config;
  declare_settings(config, options);
  options.store = store;
  options.data_dir = data_dir;
  options.listen = "127.0.0.1:0";
  options.threads = {.web = 1, .query = 1, .small_query = 1};
  options.rollups.enabled = true;
  options.rollups.config = kRollups;
  options.histograms = kHistograms;
  options.metadata.track.series = true;
  options.care.backup_dir = data_dir + "-backups";
  options.metadata.track.series_objects = true;
  options.tracing.endpoint = "http://127.0.0.1:1";  // without requests, nothing is sent
  TRY_VOID(resolve_options(options));
  Server server(options, config);
  TRY_VOID(server.start([](std::chrono::milliseconds) { return true; }));
  return server.stop();
}

// Sends nothing to HBase.
Result<void> register_hbase() {
  const SystemClock clock;
  prometheus::Registry registry;
  IoThreads threads(1, "tool");
  Result<void> closed;
  {
    storage::HBaseStore store(storage::HBaseStoreOptions(), clock, registry);
    const storage::RegionCompactor care({.client = store.client(),
                                         .table = {},
                                         .layout = nullptr,
                                         .life = {},
                                         .clock = clock,
                                         .registry = registry},
                                        storage::RegionCompactorOptions());
    const storage::UnreadableRows skipped_by_views(registry);
    closed = wait_for(threads.executors().front(), store.close());
  }
  threads.join();
  return closed;
}

std::string_view kind_text(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      break;
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "counter";
}

std::string_view unit_of(std::string_view name) {
  if (name.find("_bytes") != std::string_view::npos) return "bytes";
  if (name.find("_seconds") != std::string_view::npos) return "seconds";
  if (name.find("_points") != std::string_view::npos) return "points";
  if (name.ends_with("_amplification")) return "ratio";
  if (name.ends_with("_stopped") || name.ends_with("_ready")) return "0 or 1";
  return "count";
}

std::string labels_text(const std::vector<std::string>& labels) {
  std::string out;
  for (const std::string& label : labels) {
    out += fmt::format("{}`{}`", out.empty() ? "" : ", ", label);
  }
  return out;
}

void append_metrics(std::string& out, const std::vector<MetricDescription>& metrics) {
  std::string_view title;
  for (const MetricDescription& metric : metrics) {
    const auto* const group = std::ranges::find_if(
        kMetricGroups,
        [&metric](const MetricGroup& one) { return metric.name.starts_with(one.prefix); });
    const std::string_view of = group == kMetricGroups.end() ? "Others" : group->title;
    if (of != title) {
      title = of;
      out += fmt::format("\n## {}\n\n", title);
      if (group != kMetricGroups.end() && !group->text.empty())
        out += fmt::format("{}\n\n", group->text);
      out += "| Name | Kind | Unit | Labels | Meaning |\n|---|---|---|---|---|\n";
    }
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", metric.name, kind_text(metric.kind),
                       unit_of(metric.name), labels_text(metric.labels), metric.help);
  }
}

void append_opentsdb_names(std::string& out) {
  out += kOpentsdbHead;
  for (const web::OpentsdbStat& stat : web::opentsdb_stats()) {
    std::string of = fmt::format("`{}`", stat.family);
    if (!stat.label.empty()) {
      of = fmt::format("`{}{{{}{}\"{}\"}}`", stat.family, stat.label, stat.other ? "!=" : "=",
                       stat.value);
    }
    out += fmt::format("| `tsd.{}` | {} | {} |\n", stat.name,
                       stat.type.empty() ? std::string() : fmt::format("`{}`", stat.type), of);
  }
}

}  // namespace

Result<std::string> metrics_markdown() {
  spdlog::set_level(spdlog::level::off);
  TRY(const std::unique_ptr<TemporaryDir> dir, TemporaryDir::make());
  TRY_VOID(register_server(StoreKind::kEngine, dir->path() + "/engine"));
  TRY_VOID(register_server(StoreKind::kMemory, dir->path() + "/memory"));
  TRY_VOID(register_hbase());
  std::string out(kMetricsHead);
  append_metrics(out, described_metrics());
  append_opentsdb_names(out);
  return out;
}

}  // namespace halite::app
