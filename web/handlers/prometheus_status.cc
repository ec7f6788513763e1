// What clients of Prometheus ask about a server: mostly that it scrapes nothing and has no rules.
//
// GET, POST /api/v1/status/{buildinfo,runtimeinfo,flags,config,tsdb,walreplay}
// GET, POST /api/v1/{rules,alerts,alertmanagers}
// GET, POST /api/v1/{targets,targets/metadata,scrape_pools}
// POST, PUT /api/v1/admin/tsdb/{delete_series,snapshot,clean_tombstones}
//
// Parameters  status/tsdb: limit (default 10, at most 10,000) of each list; rules: type
// Answer      200 {"status":"success","data":..}
// Errors      400 bad_data: a parameter is wrong; 500 unavailable: always for admin, and for
//             status/tsdb if series are not counted here
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/promql/go_text.h"
#include "storage/catalog/cardinality.h"
#include "web/handlers/handlers.h"
#include "web/handlers/prometheus_request.h"
#include "web/json/prometheus_json.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

// The version whose API and language this is. Grafana decides by it what it may ask.
constexpr std::string_view kPrometheusVersion = "3.14.0";

constexpr std::size_t kListedDefault = 10;
constexpr std::size_t kListedMax = 10'000;

std::string build_info(const VersionInfo& version) {
  return fmt::format(
      R"({{"version":"{}","revision":{},"branch":{},"buildUser":{},"buildDate":"{:%Y%m%d-%H:%M:%S}",)"
      R"("goVersion":"","halite":{}}})",
      kPrometheusVersion, json_string(version.short_revision), json_string(version.branch),
      json_string(version.user), fmt::gmtime(static_cast<std::time_t>(version.built_s)),
      json_string(version.version));
}

// There is no runtime of Go; its numbers are 0.
std::string runtime_info(const Call& call) {
  const std::string started = query::promql::rfc3339_text(call.services.started_ms);
  return fmt::format(R"({{"startTime":"{0}","CWD":"","hostname":{1},"serverTime":"{2}",)"
                     R"("reloadConfigSuccess":true,"lastConfigTime":"{0}","corruptionCount":0,)"
                     R"("goroutineCount":0,"GOMAXPROCS":0,"GOMEMLIMIT":0,"GOGC":"","GODEBUG":"",)"
                     R"("storageRetention":""}})",
                     started, json_string(call.options.host_name),
                     query::promql::rfc3339_text(call.services.clock.now_ms()));
}

// Those that say something here.
std::string flags_json(const Call& call) {
  const query::QueryLimits& limits = call.services.engine.limits();
  const bool writes = call.options.mode != Mode::kReadOnly && !call.options.read_only;
  return fmt::format(
      R"({{"query.lookback-delta":"{}ms","query.max-concurrency":"{}","query.max-samples":"{}",)"
      R"("query.timeout":"{}ms","web.enable-admin-api":"false","web.enable-lifecycle":"false",)"
      R"("web.enable-otlp-receiver":"{}","web.enable-remote-write-receiver":"{}"}})",
      limits.promql.lookback_ms, limits.running_max, limits.points_max, limits.timeout_ms, writes,
      writes);
}

// The first `max` by descending number.
struct Counted {
  std::string_view name;
  std::uint64_t value = 0;
};
void append_counted(std::string& to, std::vector<Counted> counted, std::size_t max) {
  std::ranges::sort(counted, [](const Counted& a, const Counted& b) {
    return a.value != b.value ? a.value > b.value : a.name < b.name;
  });
  if (counted.size() > max) counted.resize(max);
  append_json_list(to, counted, [&to](const Counted& one) {
    to += R"({"name":)";
    append_prometheus_text(to, one.name);
    fmt::format_to(std::back_inserter(to), R"(,"value":{}}})", one.value);
  });
}

// Memory by label and series by pair are not counted.
std::string tsdb_status(const storage::Cardinality& counts, std::size_t max) {
  std::uint64_t pairs = counts.metrics.size();
  std::vector<Counted> metrics;
  std::vector<Counted> labels{{.name = query::kMetricLabel, .value = pairs}};
  for (const auto& metric : counts.metrics) {
    metrics.push_back({.name = metric.name, .value = metric.series});
  }
  for (const auto& key : counts.tag_keys) {
    labels.push_back({.name = key.name, .value = key.values});
    pairs += key.values;
  }
  std::string json =
      fmt::format(R"({{"headStats":{{"numSeries":{},"numLabelPairs":{},"chunkCount":0,"minTime":0,)"
                  R"("maxTime":0}},"seriesCountByMetricName":)",
                  counts.series, pairs);
  append_counted(json, std::move(metrics), max);
  json += R"(,"labelValueCountByLabelName":)";
  append_counted(json, std::move(labels), max);
  return json += R"(,"memoryInBytesByLabelName":[],"seriesCountByLabelValuePair":[]})";
}

Result<std::size_t> listed_max(const Call& call) {
  TRY(const PrometheusParameters parameters, PrometheusParameters::of(call));
  const std::string_view text = parameters.get("limit");
  if (text.empty()) return kListedDefault;
  std::int64_t limit = 0;
  if (!read_number(text, limit) || limit < 1) {
    return fail(Errc::kInvalidArgument, "limit must be a positive number");
  }
  if (static_cast<std::size_t>(limit) > kListedMax) {
    return fail(Errc::kInvalidArgument, fmt::format("limit must not exceed {}", kListedMax));
  }
  return static_cast<std::size_t>(limit);
}

asio::awaitable<Response> show_tsdb(Call& call) {
  const Result<std::size_t> max = listed_max(call);
  if (!max) co_return bad_data(max.error());
  if (call.services.cardinality_counter == nullptr) {
    co_return prometheus_error(500, "unavailable", "this server does not count series");
  }
  auto counting = call.services.cardinality_counter->counts();
  const Result<std::shared_ptr<const storage::Cardinality>> counts = co_await std::move(counting);
  if (!counts) co_return promql_error(counts.error());
  co_return prometheus_success(tsdb_status(**counts, *max));
}

std::string_view prometheus_page(const Call& call) { return call.target.rest.front(); }

}  // namespace

asio::awaitable<Response> handle_prometheus_status(Call& call) {
  const std::string_view page = prometheus_page(call);
  if (page == "tsdb") co_return co_await show_tsdb(call);
  if (page == "buildinfo") co_return prometheus_success(build_info(call.services.version));
  if (page == "runtimeinfo") co_return prometheus_success(runtime_info(call));
  if (page == "flags") co_return prometheus_success(flags_json(call));
  if (page == "walreplay") co_return prometheus_success(R"({"min":0,"max":0,"current":0})");
  co_return prometheus_success(
      R"({"yaml":"global:\n  scrape_interval: 1m\n  external_labels: {}\n"})");
}

asio::awaitable<Response> handle_prometheus_rules(Call& call) {
  const std::string_view page = prometheus_page(call);
  if (page == "alerts") co_return prometheus_success(R"({"alerts":[]})");
  if (page == "alertmanagers") {
    co_return prometheus_success(R"({"activeAlertmanagers":[],"droppedAlertmanagers":[]})");
  }
  const std::string wanted = to_lower(call.target.get("type"));
  if (!wanted.empty() && wanted != "alert" && wanted != "record") {
    const Error error{
        Errc::kInvalidArgument, fmt::format("not supported value {}", json_string(wanted)), {}};
    co_return bad_data(invalid_parameter("type", error));
  }
  co_return prometheus_success(R"({"groups":[]})");
}

asio::awaitable<Response> handle_prometheus_targets(Call& call) {
  const std::string_view page = prometheus_page(call);
  if (page == "metadata") co_return prometheus_success("[]");
  if (page == "scrape_pools") co_return prometheus_success(R"({"scrapePools":[]})");
  co_return prometheus_success(
      R"({"activeTargets":[],"droppedTargets":[],"droppedTargetCounts":{}})");
}

asio::awaitable<Response> handle_prometheus_admin(Call& /*call*/) {
  co_return prometheus_error(500, "unavailable", "admin APIs disabled");
}

}  // namespace halite::web
