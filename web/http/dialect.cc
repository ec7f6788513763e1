#include "web/http/dialect.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "common/bytes/varint.h"
#include "common/json_string.h"

namespace halite::web {
namespace {

constexpr std::array kForeignPaths = {
    // Prometheus', VictoriaMetrics', Mimir's and InfluxDB's names of remote_write
    ForeignPath{"/api/v1/write", "prometheus/write", Dialect::kPrometheus},
    ForeignPath{"/api/v1/push", "prometheus/write", Dialect::kPrometheus},
    ForeignPath{"/prometheus/api/v1/write", "prometheus/write", Dialect::kPrometheus},
    ForeignPath{"/prometheus/api/v1/push", "prometheus/write", Dialect::kPrometheus},
    ForeignPath{"/api/v1/prom/write", "prometheus/write", Dialect::kPrometheus},

    ForeignPath{"/v1/metrics", "otlp/metrics", Dialect::kOtlp},
    ForeignPath{"/api/v1/otlp/v1/metrics", "otlp/metrics", Dialect::kOtlp},
    ForeignPath{"/opentelemetry/v1/metrics", "otlp/metrics", Dialect::kOtlp},

    ForeignPath{"/write", "influx/write", Dialect::kInflux1},
    ForeignPath{"/influx/write", "influx/write", Dialect::kInflux1},
    ForeignPath{"/query", "influx/query", Dialect::kInflux1},
    ForeignPath{"/influx/query", "influx/query", Dialect::kInflux1},
    ForeignPath{"/ping", "influx/ping", Dialect::kInflux1},
    ForeignPath{"/influx/ping", "influx/ping", Dialect::kInflux1},
    ForeignPath{"/health", "influx/health", Dialect::kInflux2},
    ForeignPath{"/influx/health", "influx/health", Dialect::kInflux2},
    ForeignPath{"/api/v2/write", "influx/v2/write", Dialect::kInflux2},
    ForeignPath{"/influx/api/v2/write", "influx/v2/write", Dialect::kInflux2},
    ForeignPath{"/api/v3/write_lp", "influx/v3/write", Dialect::kInflux3},
    ForeignPath{"/influx/api/v3/write_lp", "influx/v3/write", Dialect::kInflux3},

    ForeignPath{"/api/v1/import/prometheus", "import/prometheus", Dialect::kPrometheus},
    ForeignPath{"/api/v1/import", "import/vmjson", Dialect::kPrometheus},
    ForeignPath{"/api/v1/export", "export/vmjson", Dialect::kPrometheus},
};

// Prometheus' words for statuses.
std::string_view error_type(int status) {
  switch (status) {
    case 404:
      return "not_found";
    case 422:
      return "execution";
    case 503:
      return "unavailable";
    default:
      return status < 500 ? "bad_data" : "internal";
  }
}

// InfluxDB 2's words for statuses.
std::string_view influx_code(int status) {
  switch (status) {
    case 401:
      return "unauthorized";
    case 403:
      return "forbidden";
    case 404:
      return "not found";
    case 405:
      return "method not allowed";
    case 413:
      return "request too large";
    case 415:
      return "unsupported media type";
    case 422:
      return "unprocessable entity";
    case 429:
      return "too many requests";
    case 503:
      return "unavailable";
    default:
      return status < 500 ? "invalid" : "internal error";
  }
}

// What gRPC calls it (google.rpc.Code).
int rpc_code(int status) {
  switch (status) {
    case 401:
      return 16;  // UNAUTHENTICATED
    case 403:
      return 7;  // PERMISSION_DENIED
    case 404:
    case 405:
      return 12;  // UNIMPLEMENTED
    case 413:
    case 429:
      return 8;  // RESOURCE_EXHAUSTED
    case 503:
      return 14;  // UNAVAILABLE
    default:
      return status < 500 ? 3 : 13;  // INVALID_ARGUMENT, INTERNAL
  }
}

Response otlp_error(const Request& request, int status, std::string_view message) {
  if (is_otlp_json(request)) {
    return json_response(status, fmt::format(R"({{"code":{},"message":{}}})", rpc_code(status),
                                             json_string(message)));
  }
  std::string body = "\x08";  // field 1, a varint
  append_varint(body, static_cast<std::size_t>(rpc_code(status)));
  body += '\x12';  // field 2, a string
  const std::string text = repair_utf8(message);
  append_varint(body, text.size());
  body += text;
  return text_response(status, std::move(body), "application/x-protobuf");
}

// A header cannot contain a line feed or other control bytes, which a message may quote.
std::string header_text(std::string_view message) {
  constexpr std::size_t kBytesMax = 1024;
  std::string text(message.substr(0, kBytesMax));
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return text;
}

}  // namespace

bool is_otlp_json(const Request& request) { return has_media_type(request, "application/json"); }

Response foreign_error(Dialect dialect, const Request& request, int status,
                       std::string_view message) {
  Response response;
  switch (dialect) {
    case Dialect::kOpenTsdb:
    case Dialect::kPrometheus:
      return text_response(status, std::string(message) + '\n');
    case Dialect::kPrometheusJson:
      return prometheus_error(status, error_type(status), message);
    case Dialect::kOtlp:
      return otlp_error(request, status, message);
    case Dialect::kInflux1:
      response = json_response(status, fmt::format(R"({{"error":{}}})", json_string(message)));
      if (status != 401) response.headers.add("X-Influxdb-Error", header_text(message));
      return response;
    case Dialect::kInflux2:
      response = json_response(status, fmt::format(R"({{"code":"{}","message":{}}})",
                                                   influx_code(status), json_string(message)));
      response.headers.add("X-Platform-Error-Code", std::string(influx_code(status)));
      return response;
    case Dialect::kInflux3:
      return json_response(status,
                           fmt::format(R"({{"error":{},"data":null}})", json_string(message)));
  }
  return response;
}

Response prometheus_error(int status, std::string_view type, std::string_view message) {
  return text_response(
      status,
      fmt::format(R"({{"status":"error","errorType":"{}","error":{}}})", type,
                  json_string(is_utf8(message) ? std::string(message) : repair_utf8(message))),
      kPrometheusJsonType);
}

const ForeignPath* find_foreign_path(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto* const found = std::ranges::find(kForeignPaths, path, &ForeignPath::path);
  return found == kForeignPaths.end() ? nullptr : &*found;
}

}  // namespace halite::web
