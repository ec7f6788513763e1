#include "web/stats.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include <fmt/format.h>
#include <prometheus/registry.h>

#include "common/json_list.h"
#include "common/json_string.h"

namespace halite::web {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

std::string number_text(double value) {
  if (!std::isfinite(value)) return "0";
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6f}", value);
}

double value_of(const ClientMetric& metric, prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return metric.counter.value;
    case prometheus::MetricType::Gauge:
      return metric.gauge.value;
    case prometheus::MetricType::Histogram:
      return static_cast<double>(metric.histogram.sample_count);
    default:
      return 0;
  }
}

bool counts(const OpentsdbStat& known, const ClientMetric& metric) {
  if (known.label.empty()) return true;
  const auto label = std::ranges::find(metric.label, known.label, &ClientMetric::Label::name);
  return label != metric.label.end() && (label->value == known.value) != known.other;
}

double total_of(const std::vector<MetricFamily>& families, const OpentsdbStat& known) {
  double total = 0;
  for (const MetricFamily& family : families) {
    if (family.name != known.family) continue;
    for (const ClientMetric& metric : family.metric) {
      if (counts(known, metric)) total += value_of(metric, family.type);
    }
  }
  return total;
}

constexpr OpentsdbStat kKnown[] = {
    {"connectionmgr.connections", "open", "halite_web_connections"},
    {"connectionmgr.connections", "rejected", "halite_web_connections_rejected_total"},
    {"connectionmgr.connections", "total", "halite_web_connections_total"},
    {"rpc.received", "telnet", "halite_web_telnet_lines_total"},
    {"rpc.received", "http", "halite_web_requests_total"},
    {"rpc.received", "put", "halite_ingest_points_total", "protocol", "telnet"},
    {"rpc.errors", "unknown_metrics", "halite_ingest_points_refused_total", "reason",
     "unknown_name"},
    {"rpc.errors", "illegal_arguments", "halite_ingest_points_refused_total", "reason",
     "illegal_argument"},
    {"rpc.errors", "invalid_values", "halite_ingest_points_refused_total", "reason",
     "invalid_value"},
    {"rpc.errors", "hbase_errors", "halite_storage_failed_writes_total"},
    {"datapoints.added", "all", "halite_ingest_points_total"},
    {"http.query.success", "", "halite_query_runs_total", "outcome", "ok"},
    {"http.query.exceptions", "", "halite_query_runs_total", "outcome", "ok", true},
};

// "halite_web_read_bytes_total" -> "halite.web.read_bytes_total"
std::string dotted(std::string_view name) {
  std::string result(name);
  const std::size_t first = result.find('_');
  if (first == std::string::npos) return result;
  result[first] = '.';
  const std::size_t second = result.find('_', first + 1);
  if (second != std::string::npos) result[second] = '.';
  return result;
}

// Label values may contain characters that are not allowed in a line of `stats`.
std::string tag_text(std::string_view text) {
  if (text.empty()) return "none";
  std::string result(text);
  std::ranges::replace_if(result, [](char c) { return c == ' ' || c == '=' || c == '\n'; }, '_');
  return result;
}

using Tags = std::map<std::string, std::string>;

Tags tags_of_all(const WebOptions& options) {
  Tags tags{{options.stats_canonical ? "fqdn" : "host", tag_text(options.host_name)}};
  if (options.stats_with_port) tags["port"] = std::to_string(options.port);
  return tags;
}

void append_family(Stats& stats, const MetricFamily& family, const Tags& tags) {
  for (const ClientMetric& metric : family.metric) {
    Stat stat{.name = "tsd." + dotted(family.name),
              .value = number_text(value_of(metric, family.type)),
              .tags = tags};
    for (const auto& label : metric.label) stat.tags[label.name] = tag_text(label.value);
    if (family.type == prometheus::MetricType::Histogram) {
      Stat sum = stat;
      sum.name += ".sum";
      sum.value = number_text(metric.histogram.sample_sum);
      stats.list.push_back(std::move(sum));
      stat.name += ".count";
    }
    stats.list.push_back(std::move(stat));
  }
}

std::string stat_line(const Stat& stat, std::int64_t time_s) {
  std::string line = fmt::format("{} {} {}", stat.name, time_s, stat.value);
  for (const auto& [key, value] : stat.tags) {
    if (key != "host" && key != "fqdn") {
      fmt::format_to(std::back_inserter(line), " {}={}", key, value);
    }
  }
  for (const char* name : {"host", "fqdn"}) {
    const auto host = stat.tags.find(name);
    if (host != stat.tags.end()) line += fmt::format(" {}={}", name, host->second);
  }
  return line;
}

}  // namespace

std::span<const OpentsdbStat> opentsdb_stats() { return kKnown; }

Stats collect_stats(const WebServices& services, const WebOptions& options) {
  const std::vector<MetricFamily> families = services.registry.Collect();
  const Tags tags = tags_of_all(options);
  Stats stats;
  stats.time_s = services.clock.now_ms() / 1000;
  for (const OpentsdbStat& known : kKnown) {
    Stat stat{.name = "tsd." + std::string(known.name),
              .value = number_text(total_of(families, known)),
              .tags = tags};
    if (!known.type.empty()) stat.tags["type"] = known.type;
    stats.list.push_back(std::move(stat));
  }
  const auto own = static_cast<std::ptrdiff_t>(stats.list.size());
  for (const MetricFamily& family : families) append_family(stats, family, tags);
  std::ranges::sort(stats.list.begin() + own, stats.list.end(), {},
                    [](const Stat& stat) { return std::tie(stat.name, stat.tags); });
  return stats;
}

void append_stats_lines(std::string& to, const Stats& stats) {
  for (const Stat& stat : stats.list) {
    to += stat_line(stat, stats.time_s);
    to += '\n';
  }
}

void append_stats_json(std::string& to, const Stats& stats) {
  append_json_list(to, stats.list, [&to, &stats](const Stat& stat) {
    to += "{\"metric\":";
    append_json_string(to, stat.name);
    fmt::format_to(std::back_inserter(to), ",\"timestamp\":{},\"value\":\"{}\",\"tags\":{{",
                   stats.time_s, stat.value);
    for (const auto& [key, value] : stat.tags) {
      if (to.back() != '{') to += ',';
      append_json_string(to, key);
      to += ':';
      append_json_string(to, value);
    }
    to += "}}";
  });
}

void append_stats_lines_json(std::string& to, const Stats& stats) {
  append_json_list(to, stats.list, [&to, &stats](const Stat& stat) {
    append_json_string(to, stat_line(stat, stats.time_s));
  });
}

}  // namespace halite::web
