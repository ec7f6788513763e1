// The table of all endpoints.
#include <array>

#include "web/endpoint.h"
#include "web/handlers/handlers.h"

namespace halite::web {

namespace {

constexpr std::uint8_t kAsk = kGet | kPost;
constexpr std::uint8_t kShow = kGet | kHead;
constexpr std::uint8_t kEdit = kGet | kPost | kPut | kDelete;
constexpr RequiredRoles kReadOrDelete = {kAsk, Role::kRead, Role::kAdmin};
constexpr RequiredRoles kReadOrWrite = {kShow, Role::kRead, Role::kWrite};
constexpr RequiredRoles kReadOrRule = {kShow, Role::kRead, Role::kAdmin};

// name, methods, modes, roles, watch the client, handler
constexpr std::array kEndpoints = {
    Endpoint{"api/put", kPost, kWrites, kWriter, false, handle_put},
    Endpoint{"api/incr", kPost, kWrites, kWriter, false, handle_incr},
    Endpoint{"api/rollup", kPost, kWrites, kWriter, false, handle_rollup},
    Endpoint{"api/histogram", kEdit | kHead | kPatch, kWrites, kWriter, false, handle_histogram},
    Endpoint{"api/query", kAsk | kDelete, kReads, kReadOrDelete, true, handle_query},
    Endpoint{"api/suggest", kAsk, kReads, kReader, false, handle_suggest},
    Endpoint{"api/search", kEdit | kPatch, kReads, kReader, true, handle_search},
    Endpoint{"api/annotation", kEdit, kWrites, kReadOrWrite, false, handle_annotation},
    Endpoint{"api/annotations", kEdit, kWrites, kReadOrWrite, false, handle_annotations},
    Endpoint{"api/uid", kEdit, kWrites, kReadOrWrite, false, handle_uid},
    Endpoint{"api/tree", kEdit | kPatch, kWrites, kReadOrWrite, false, handle_tree},
    Endpoint{"api/aggregators", kAsk, kAlways, kReader, false, handle_aggregators},
    Endpoint{"api/config", kAsk, kAlways, kReader, false, handle_config},
    Endpoint{"api/version", kAsk, kAlways, kReader, false, handle_version},
    Endpoint{"api/stats", kAsk, kAlways, kReader, false, handle_stats},
    Endpoint{"api/dropcaches", kGet | kDelete, kAlways, kAdministrator, false, handle_dropcaches},

    // Other protocols; their paths are in web/http/dialect.cc, and those of
    // Prometheus' API in web/http/prometheus_path.cc.
    Endpoint{"influx/write", kPost, kWrites, kWriter, false, handle_influx_write},
    Endpoint{"influx/v2/write", kPost, kWrites, kWriter, false, handle_influx_write},
    Endpoint{"influx/v3/write", kPost, kWrites, kWriter, false, handle_influx_write},
    Endpoint{"influx/ping", kShow, kAlways, kPublic, false, handle_influx_ping},
    Endpoint{"influx/health", kShow, kAlways, kPublic, false, handle_influx_health},
    Endpoint{"influx/query", kAsk, kAlways, kPublic, false, handle_influx_query},
    Endpoint{"prometheus/write", kPost, kWrites, kWriter, false, handle_remote_write,
             BodyForm::kRemoteWrite, check_remote_write},
    Endpoint{"prometheus/metadata", kAsk, kReads, kReader, false, handle_metric_families},
    Endpoint{"prometheus/query", kAsk, kReads, kReader, true, handle_promql_query},
    Endpoint{"prometheus/query_range", kAsk, kReads, kReader, true, handle_promql_query_range},
    Endpoint{"prometheus/query_exemplars", kAsk, kReads, kReader, false, handle_query_exemplars},
    Endpoint{"prometheus/format_query", kAsk, kReads, kReader, false, handle_format_query},
    Endpoint{"prometheus/parse_query", kAsk, kReads, kReader, false, handle_parse_query},
    Endpoint{"prometheus/series", kAsk, kReads, kReader, true, handle_promql_series},
    Endpoint{"prometheus/labels", kAsk, kReads, kReader, true, handle_promql_labels},
    Endpoint{"prometheus/label_values", kAsk, kReads, kReader, true, handle_promql_label_values},
    Endpoint{"prometheus/read", kPost, kReads, kReader, true, handle_remote_read,
             BodyForm::kRemoteWrite},
    Endpoint{"prometheus/federate", kGet, kReads, kReader, true, handle_federate},
    Endpoint{"prometheus/rules", kAsk, kReads, kReader, false, handle_prometheus_rules},
    Endpoint{"prometheus/targets", kAsk, kReads, kReader, false, handle_prometheus_targets},
    Endpoint{"prometheus/status", kAsk, kReads, kReader, false, handle_prometheus_status},
    Endpoint{"prometheus/admin", kPost | kPut, kReads, kReader, false, handle_prometheus_admin},
    Endpoint{"prometheus/-", kShow, kAlways, kPublic, false, handle_health},
    Endpoint{"import/prometheus", kPost, kWrites, kWriter, false, handle_import_prometheus},
    Endpoint{"import/vmjson", kPost, kWrites, kWriter, false, handle_import_vmjson},
    Endpoint{"export/vmjson", kAsk, kReads, kReader, true, handle_export},
    Endpoint{"otlp/metrics", kPost, kWrites, kWriter, false, handle_otlp, BodyForm::kBinary,
             check_otlp},

    // Endpoints older than the API.
    Endpoint{"aggregators", kGet, kAlways, kReader, false, handle_aggregators},
    Endpoint{"logs", kGet, kAlways, kAdministrator, false, handle_logs},
    Endpoint{"q", kGet, kReads, kReader, true, handle_graph},
    Endpoint{"suggest", kGet, kReads, kReader, false, handle_suggest},
    Endpoint{"version", kGet, kAlways, kReader, false, handle_version},
    Endpoint{"stats", kGet, kAlways, kReader, false, handle_stats},

    // Halite's own endpoints.
    Endpoint{"", kShow, kAlways, kReader, false, handle_page},
    Endpoint{"s", kShow, kAlways, kReader, false, handle_static},
    Endpoint{"api/admin", kGet | kPost, kAlways, kAdministrator, false, handle_admin},
    Endpoint{"api/series", kGet, kReads, kReader, true, handle_series},
    Endpoint{"api/server", kGet | kDelete, kAlways, kReadOrRule, false, handle_server},
    Endpoint{"api/views", kGet | kPost, kAlways, kReadOrRule, false, handle_views},
    Endpoint{"metrics", kShow, kAlways, kReader, false, handle_metrics},
    Endpoint{"-", kShow, kAlways, kPublic, false, handle_health},
};

}  // namespace

std::span<const Endpoint> all_endpoints() { return kEndpoints; }

}  // namespace halite::web
