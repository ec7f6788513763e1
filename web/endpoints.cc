// The table of all endpoints.
#include <array>

#include "web/endpoint.h"
#include "web/handlers/handlers.h"

namespace halite::web {

namespace {

constexpr std::uint8_t kAsk = kGet | kPost;
constexpr std::uint8_t kShow = kGet | kHead;
constexpr std::uint8_t kEdit = kGet | kPost | kPut | kDelete;

// name, methods, modes, watch the client, handler
constexpr std::array kEndpoints = {
    Endpoint{"api/put", kPost, kWrites, false, handle_put},
    Endpoint{"api/rollup", kPost, kWrites, false, handle_rollup},
    Endpoint{"api/histogram", kEdit | kHead | kPatch, kWrites, false, handle_histogram},
    Endpoint{"api/query", kAsk | kDelete, kReads, true, handle_query},
    Endpoint{"api/suggest", kAsk, kReads, false, handle_suggest},
    Endpoint{"api/search", kEdit | kPatch, kReads, true, handle_search},
    Endpoint{"api/annotation", kEdit, kWrites, false, handle_annotation},
    Endpoint{"api/annotations", kEdit, kWrites, false, handle_annotations},
    Endpoint{"api/uid", kEdit, kWrites, false, handle_uid},
    Endpoint{"api/tree", kEdit | kPatch, kWrites, false, handle_tree},
    Endpoint{"api/aggregators", kAsk, kAlways, false, handle_aggregators},
    Endpoint{"api/config", kAsk, kAlways, false, handle_config},
    Endpoint{"api/version", kAsk, kAlways, false, handle_version},
    Endpoint{"api/stats", kAsk, kAlways, false, handle_stats},
    Endpoint{"api/dropcaches", kGet | kDelete, kAlways, false, handle_dropcaches},

    // Older than the API.
    Endpoint{"aggregators", kGet, kAlways, false, handle_aggregators},
    Endpoint{"logs", kGet, kAlways, false, handle_logs},
    Endpoint{"q", kGet, kReads, true, handle_graph},
    Endpoint{"suggest", kGet, kReads, false, handle_suggest},
    Endpoint{"version", kGet, kAlways, false, handle_version},
    Endpoint{"stats", kGet, kAlways, false, handle_stats},

    // Ours.
    Endpoint{"", kShow, kAlways, false, handle_page},
    Endpoint{"s", kShow, kAlways, false, handle_static},
    Endpoint{"api/admin", kPost, kAlways, false, handle_admin},
    Endpoint{"api/series", kGet, kReads, true, handle_series},
    Endpoint{"api/server", kGet | kDelete, kAlways, false, handle_server},
    Endpoint{"metrics", kShow, kAlways, false, handle_metrics},
    Endpoint{"-", kShow, kAlways, false, handle_health},
};

}  // namespace

std::span<const Endpoint> all_endpoints() { return kEndpoints; }

}  // namespace halite::web
