#include "web/http/cors.h"

#include <fmt/format.h>

#include "web/name_list.h"

namespace halite::web {

namespace {

// The server's own page: browsers send Origin even for the same origin.
bool same_origin(const Call& call, std::string_view origin) {
  const std::string_view host = call.request.headers.get("Host");
  const std::size_t scheme = origin.find("://");
  return !host.empty() && scheme != std::string_view::npos && origin.substr(scheme + 3) == host;
}

}  // namespace

std::optional<Response> check_origin(const Call& call) {
  const std::string_view origin = call.request.headers.get("Origin");
  const bool options = call.request.method == "OPTIONS";
  const std::string_view domains = call.options.cors_domains;
  if (domains.empty() || origin.empty()) {
    if (!options) return std::nullopt;
    const Dialect dialect = call.target.dialect;
    const bool prometheus = dialect == Dialect::kPrometheus || dialect == Dialect::kPrometheusJson;
    if (prometheus) return text_response(204, "");
    return error_response(
        call, 405, "Method not allowed",
        fmt::format("The HTTP method [{}] is not permitted", call.request.method));
  }
  if (lists(domains, origin)) {
    if (options) return text_response(200, "");
    return std::nullopt;
  }
  if (!options && same_origin(call, origin)) return std::nullopt;
  return error_response(call, 200, "CORS domain not allowed",
                        fmt::format("The domain [{}] is not permitted access", origin));
}

bool is_cross_origin(const Call& call) {
  const std::string_view origin = call.request.headers.get("Origin");
  return !origin.empty() && !lists(call.options.cors_domains, origin) && !same_origin(call, origin);
}

void add_cors_headers(const Call& call, Response& response) {
  const std::string_view origin = call.request.headers.get("Origin");
  if (call.options.cors_domains.empty() || origin.empty()) return;
  response.headers.add("Vary", "Origin");  // caches must not return it for another origin
  if (!lists(call.options.cors_domains, origin)) return;
  response.headers.add("Access-Control-Allow-Origin", std::string(origin));
  response.headers.add("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE");
  response.headers.add("Access-Control-Allow-Headers", call.options.cors_headers);
}

}  // namespace halite::web
