// Protocols whose clients expect errors in their own format.
#pragma once

#include <cstdint>
#include <string_view>

#include "web/http/http_message.h"

namespace halite::web {

enum class Dialect : std::uint8_t {
  kOpenTsdb,        // and Halite's own; see error_response() in web/endpoint.h
  kPrometheus,      // a line of text
  kPrometheusJson,  // {"status":"error","errorType":"bad_data","error":"..."}
  kInflux1,         // {"error":"..."}
  kInflux2,         // {"code":"invalid","message":"..."}
  kInflux3,         // {"error":"...","data":null}
  kOtlp,            // google.rpc.Status, as protobuf or JSON like the request
};

// The version of InfluxDB whose answers Halite gives.
inline constexpr std::string_view kInfluxVersion = "1.8.10";

// `dialect` is not kOpenTsdb.
[[nodiscard]] Response foreign_error(Dialect dialect, const Request& request, int status,
                                     std::string_view message);

// Prometheus writes no charset.
inline constexpr std::string_view kPrometheusJsonType = "application/json";

// The error of kPrometheusJson with one of Prometheus' words for its type: "bad_data", "execution",
// "canceled", "timeout", "internal", "unavailable", "not_found".
[[nodiscard]] Response prometheus_error(int status, std::string_view type,
                                        std::string_view message);

// Whether the body of an OTLP request is JSON, and so its answer.
[[nodiscard]] bool is_otlp_json(const Request& request);

// A path of another protocol, exactly: its case matters.
struct ForeignPath {
  std::string_view path;      // without a final slash
  std::string_view endpoint;  // see endpoints.cc
  Dialect dialect;
};
// nullptr if it is none.
[[nodiscard]] const ForeignPath* find_foreign_path(std::string_view path);

}  // namespace halite::web
