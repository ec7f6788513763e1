#include "web/router.h"

#include <algorithm>

#include <fmt/format.h>

#include "web/authorize.h"
#include "web/http/api_method.h"
#include "web/http/cors.h"
#include "web/http/host_check.h"
#include "web/http/jsonp.h"
#include "web/http/prometheus_path.h"
#include "web/json/error_map.h"
#include "web/ui_files.h"

namespace halite::web {

namespace {

Response endpoint_not_found(const Call& call) {
  if (call.target.dialect == Dialect::kPrometheusJson) {
    return text_response(404, "404 page not found\n");
  }
  if (call.target.foreign()) return error_response(call, 404, "Endpoint not found");
  if (call.target.api) return error_response(call, 404, "Endpoint not found");
  if (call.target.endpoint == "plugin") return text_response(404, "");
  if (call.target.has("json")) return json_response(404, legacy_error_json("Page Not Found"));
  return text_response(404, error_page("Page Not Found", "This page does not exist."), kHtmlType);
}

// OpenTSDB and Prometheus both have /api/v1/query.
void choose_dialect(Call& call) {
  Target& target = call.target;
  if (target.path != "/api/v1/query" || !asks_promql(call.request, target)) return;
  target.endpoint = "prometheus/query";
  target.dialect = Dialect::kPrometheusJson;
  target.api = false;
}

// Errors that do not depend on the endpoint. Fills the call's target.
std::optional<Response> check_request(Call& call) {
  const Result<void> parsed =
      parse_target(call.request.target, call.options.grafana_prefix, call.target);
  if (!parsed) return error_response(call, parsed.error());
  choose_dialect(call);
  if (std::optional<Response> elsewhere = check_host(call)) return elsewhere;
  if (std::optional<Response> early = check_origin(call)) return early;
  const std::string_view serializer = call.target.get("serializer");
  if (call.target.api && !serializer.empty() && serializer != "json") {
    return error_response(call, 400, "Requested serializer was not found",
                          fmt::format("Could not find a serializer with the name: {}", serializer));
  }
  const Result<void> legal = check_jsonp(call.target);
  if (!legal) return error_response(call, legal.error());
  return std::nullopt;
}

// The page's own files are served like endpoints.
const Endpoint* enabled_endpoint(const Call& call) {
  const bool ours =
      call.target.foreign() || call.target.endpoint == "metrics" || call.target.endpoint == "-";
  const bool below_api = call.target.api || call.target.path.starts_with("/api/");
  if (!(below_api ? call.options.api : ours || call.options.pages)) return nullptr;
  const Endpoint* endpoint = find_endpoint(call.target.endpoint, call.options.mode);
  if (endpoint != nullptr || call.target.api) return endpoint;
  const UiFile* file = find_ui_file(std::string_view(call.target.path).substr(1));
  return file == nullptr ? nullptr : find_endpoint("", call.options.mode);
}

}  // namespace

RoutedRequest route(const WebOptions& options, const WebServices& services, WebMetrics& metrics,
                    Request request, std::stop_token stop) {
  RoutedRequest routed{
      .call = {options, services, metrics, std::move(request), {}, std::move(stop)},
      .endpoint = nullptr,
      .refusal = {}};
  Call& call = routed.call;
  if (std::optional<Response> refusal = check_request(call)) {
    routed.refusal = std::move(*refusal);
    return routed;
  }
  const Endpoint* endpoint = enabled_endpoint(call);
  if (endpoint == nullptr) {
    routed.refusal = endpoint_not_found(call);
  } else if (!allows(*endpoint, call.request.method)) {
    routed.refusal = method_not_allowed(call);
  } else if (changes(*endpoint, call.request.method) && is_cross_origin(call)) {
    routed.refusal = *refuse_cross_origin(call);
  } else {
    routed.endpoint = endpoint;
    call.change_role = endpoint->needs.changing;
  }
  return routed;
}

boost::asio::awaitable<Response> answer(RoutedRequest& routed) {
  Response response;
  if (routed.endpoint == nullptr) {
    response = std::move(routed.refusal);
  } else {
    response = co_await routed.endpoint->handler(routed.call);
  }
  wrap_jsonp(routed.call.target, response);
  add_cors_headers(routed.call, response);
  co_return response;
}

Response refuse(int status, std::string_view message) {
  Response response = json_response(status, error_envelope(status, message, {}));
  response.close = true;
  return response;
}

}  // namespace halite::web
