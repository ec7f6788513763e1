#include "web/http/prometheus_path.h"

#include <algorithm>
#include <array>

#include "common/bytes/ascii.h"
#include "web/http/form.h"
#include "web/http/target.h"

namespace halite::web {
namespace {

constexpr std::string_view kPrometheusPrefix = "/prometheus";
constexpr std::string_view kPrometheusApi = "/api/v1/";

struct ApiPath {
  std::string_view name;  // behind /api/v1/
  std::string_view endpoint;
  std::string_view rest = {};
  Dialect dialect = Dialect::kPrometheusJson;
};

constexpr std::array kApiPaths = {
    ApiPath{"query", "prometheus/query"},
    ApiPath{"query_range", "prometheus/query_range"},
    ApiPath{"query_exemplars", "prometheus/query_exemplars"},
    ApiPath{"format_query", "prometheus/format_query"},
    ApiPath{"parse_query", "prometheus/parse_query"},
    ApiPath{"series", "prometheus/series"},
    ApiPath{"labels", "prometheus/labels"},
    ApiPath{"metadata", "prometheus/metadata"},
    ApiPath{"read", "prometheus/read", {}, Dialect::kPrometheus},

    ApiPath{"rules", "prometheus/rules", "rules"},
    ApiPath{"alerts", "prometheus/rules", "alerts"},
    ApiPath{"alertmanagers", "prometheus/rules", "alertmanagers"},
    ApiPath{"targets", "prometheus/targets", "targets"},
    ApiPath{"targets/metadata", "prometheus/targets", "metadata"},
    ApiPath{"scrape_pools", "prometheus/targets", "scrape_pools"},

    ApiPath{"status/buildinfo", "prometheus/status", "buildinfo"},
    ApiPath{"status/runtimeinfo", "prometheus/status", "runtimeinfo"},
    ApiPath{"status/flags", "prometheus/status", "flags"},
    ApiPath{"status/config", "prometheus/status", "config"},
    ApiPath{"status/tsdb", "prometheus/status", "tsdb"},
    ApiPath{"status/walreplay", "prometheus/status", "walreplay"},

    ApiPath{"admin/tsdb/delete_series", "prometheus/admin"},
    ApiPath{"admin/tsdb/snapshot", "prometheus/admin"},
    ApiPath{"admin/tsdb/clean_tombstones", "prometheus/admin"},
};

std::optional<PrometheusPath> find_api_path(std::string_view name) {
  constexpr std::string_view kLabel = "label/";
  constexpr std::string_view kValues = "/values";
  if (name.starts_with(kLabel) && name.ends_with(kValues) &&
      name.size() > kLabel.size() + kValues.size()) {
    name.remove_prefix(kLabel.size());
    name.remove_suffix(kValues.size());
    return PrometheusPath{.endpoint = "prometheus/label_values", .rest = {std::string(name)}};
  }
  const auto* const found = std::ranges::find(kApiPaths, name, &ApiPath::name);
  if (found == kApiPaths.end()) return std::nullopt;
  PrometheusPath path{.endpoint = found->endpoint, .dialect = found->dialect, .rest = {}};
  if (!found->rest.empty()) path.rest.emplace_back(found->rest);
  return path;
}

std::optional<PrometheusPath> find_root_path(std::string_view path) {
  if (path == "/federate") {
    return PrometheusPath{
        .endpoint = "prometheus/federate", .dialect = Dialect::kPrometheus, .rest = {}};
  }
  if (!path.starts_with(kPrometheusApi)) return std::nullopt;
  return find_api_path(path.substr(kPrometheusApi.size()));
}

bool has_any(const Target& target, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return target.has(name); });
}

// Whether the bytes of the body say nothing (yet).
bool body_is_hidden(const Request& request) {
  const std::string_view coding = request.headers.get("Content-Encoding");
  if (!request.body.empty()) return !coding.empty() && !equal_ignoring_case(coding, "identity");
  const std::string_view length = request.headers.get("Content-Length");
  return (!length.empty() && length != "0") || request.headers.has("Transfer-Encoding");
}

}  // namespace

std::optional<PrometheusPath> find_prometheus_path(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == kPrometheusPrefix) return PrometheusPath{.endpoint = "prometheus/none", .rest = {}};
  if (!path.starts_with(kPrometheusPrefix) || path[kPrometheusPrefix.size()] != '/') {
    if (path == "/api/v1/query") return std::nullopt;
    return find_root_path(path);
  }
  path.remove_prefix(kPrometheusPrefix.size());
  constexpr std::string_view kHealth = "/-/";
  if (path.starts_with(kHealth)) {
    return PrometheusPath{.endpoint = "prometheus/-",
                          .dialect = Dialect::kPrometheus,
                          .rest = {std::string(path.substr(kHealth.size()))}};
  }
  if (std::optional<PrometheusPath> found = find_root_path(path)) return found;
  return PrometheusPath{.endpoint = "prometheus/none", .rest = {}};
}

bool asks_promql(const Request& request, const Target& target) {
  const bool opentsdb_selects = has_any(target, {"m", "tsuid"});
  if (target.has("query") && !opentsdb_selects) return true;
  if (opentsdb_selects) return false;
  const bool post = request.method == "POST";
  const bool hidden = body_is_hidden(request);
  if ((post || request.method == "PUT") && !hidden &&
      trim(request.body, kCBlanks).starts_with('{')) {
    return false;
  }
  if (post && has_form(request)) return true;
  if (hidden || !request.body.empty()) return false;
  if (request.method == "DELETE" || request.headers.has("X-HTTP-Method-Override") ||
      target.has("method_override")) {
    return false;
  }
  // OpenTSDB needs a start; without anything, the error is Prometheus'.
  if (target.has("start")) return false;
  return has_any(target, {"time", "timeout", "limit", "lookback_delta", "stats"}) ||
         !target.has("end");
}

}  // namespace halite::web
