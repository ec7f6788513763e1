#include "web/http/prometheus_path.h"

#include <gtest/gtest.h>

#include "web/http/target.h"

namespace halite::web {
namespace {

using Rest = std::vector<std::string>;

std::string_view endpoint_of(std::string_view path) {
  const auto found = find_prometheus_path(path);
  return found ? found->endpoint : "(none)";
}

TEST(PrometheusPath, the_api_is_at_the_root_and_below_a_prefix) {
  for (const std::string prefix : {"", "/prometheus"}) {
    EXPECT_EQ(endpoint_of(prefix + "/api/v1/query_range"), "prometheus/query_range");
    EXPECT_EQ(endpoint_of(prefix + "/api/v1/labels/"), "prometheus/labels");
    EXPECT_EQ(endpoint_of(prefix + "/api/v1/targets/metadata"), "prometheus/targets");
    EXPECT_EQ(endpoint_of(prefix + "/federate"), "prometheus/federate");
    const auto status = find_prometheus_path(prefix + "/api/v1/status/buildinfo");
    ASSERT_TRUE(status);
    EXPECT_EQ(status->endpoint, "prometheus/status");
    EXPECT_EQ(status->rest, Rest{"buildinfo"});
    EXPECT_EQ(status->dialect, Dialect::kPrometheusJson);
    const auto values = find_prometheus_path(prefix + "/api/v1/label/a/b/values");
    ASSERT_TRUE(values);
    EXPECT_EQ(values->endpoint, "prometheus/label_values");
    EXPECT_EQ(values->rest, Rest{"a/b"});
  }
}

TEST(PrometheusPath, opentsdb_and_halite_keep_their_own) {
  for (const char* path : {"/api/v1/query", "/api/v1/query/exp", "/api/v1/series/metrics",
                           "/api/v1/search/lookup", "/api/query_range", "/api/v1/label/values",
                           "/api/v1/label//values", "/api/v1/LABELS", "/-/ready", "/prometheusx"}) {
    EXPECT_EQ(endpoint_of(path), "(none)") << path;
  }
}

TEST(PrometheusPath, nothing_else_is_below_the_prefix) {
  EXPECT_EQ(endpoint_of("/prometheus/api/v1/query"), "prometheus/query");
  EXPECT_EQ(endpoint_of("/prometheus/-/ready"), "prometheus/-");
  for (const char* path : {"/prometheus", "/prometheus/", "/prometheus/graph",
                           "/prometheus/api/v1/features", "/prometheus/api/v1/label/values"}) {
    EXPECT_EQ(endpoint_of(path), "prometheus/none") << path;
  }
}

constexpr const char* kFormMedia = "application/x-www-form-urlencoded";
constexpr const char* kJsonMedia = "application/json";

bool asks_at_query(std::string method, std::string_view parameters, const char* type = "",
                   std::string body = "", std::string_view header = "") {
  Request request;
  request.method = std::move(method);
  if (*type != '\0') request.headers.add("Content-Type", type);
  if (!header.empty()) {
    const std::size_t colon = header.find(':');
    request.headers.add(std::string(header.substr(0, colon)),
                        std::string(header.substr(colon + 1)));
  }
  request.body = std::move(body);
  Target target;
  const Result<void> parsed =
      parse_target("/api/v1/query?" + std::string(parameters), true, target);
  EXPECT_TRUE(parsed) << parameters;
  return asks_promql(request, target);
}

TEST(PrometheusPath, a_query_in_the_uri_is_promql_by_any_method) {
  EXPECT_TRUE(asks_at_query("GET", "query=up"));
  EXPECT_TRUE(asks_at_query("GET", "query=up&start=1"));
  EXPECT_TRUE(asks_at_query("POST", "query=up&time=1", kJsonMedia));  // of vmalert
  EXPECT_TRUE(asks_at_query("POST", "query=up", kFormMedia, "time=1"));
  EXPECT_FALSE(asks_at_query("GET", "query=up&m=sum:up&start=1"));
  EXPECT_FALSE(asks_at_query("GET", "m=sum:up&start=1"));
  EXPECT_FALSE(asks_at_query("GET", "tsuid=sum:000001&start=1"));
}

TEST(PrometheusPath, the_body_decides_next) {
  EXPECT_FALSE(asks_at_query("POST", "", kJsonMedia, R"({"start":1})"));
  EXPECT_FALSE(asks_at_query("POST", "", kFormMedia, "\r\n {\"start\":1}"));  // of curl -d
  EXPECT_FALSE(asks_at_query("PUT", "", kFormMedia, "{}"));
  EXPECT_TRUE(asks_at_query("POST", "", kFormMedia, "query=up"));
  EXPECT_TRUE(asks_at_query("POST", "", kFormMedia, ""));
  EXPECT_TRUE(asks_at_query("POST", "start=1", kFormMedia, "query=up"));
  EXPECT_TRUE(asks_at_query("POST", "", "multipart/form-data; boundary=x", "--x--"));
  EXPECT_FALSE(asks_at_query("POST", "", kJsonMedia, "[1]"));
}

TEST(PrometheusPath, a_body_that_is_not_to_be_seen_has_its_type) {
  EXPECT_FALSE(asks_at_query("POST", "", kJsonMedia, "", "Content-Length:10"));
  EXPECT_FALSE(asks_at_query("POST", "", "", "", "Transfer-Encoding:chunked"));
  EXPECT_TRUE(asks_at_query("POST", "", kFormMedia, "", "Content-Length:10"));
  EXPECT_FALSE(asks_at_query("POST", "", kJsonMedia, "\x1F\x8B", "Content-Encoding:gzip"));
  EXPECT_TRUE(asks_at_query("POST", "", kFormMedia, "\x1F\x8B", "Content-Encoding:gzip"));
}

TEST(PrometheusPath, otherwise_what_only_one_of_them_has) {
  EXPECT_FALSE(asks_at_query("DELETE", ""));
  EXPECT_FALSE(asks_at_query("GET", "method_override=delete"));
  EXPECT_FALSE(asks_at_query("GET", "", "", "", "X-HTTP-Method-Override:DELETE"));
  EXPECT_TRUE(asks_at_query("GET", "time=1"));
  EXPECT_TRUE(asks_at_query("GET", "lookback_delta=1m&end=2"));
  EXPECT_TRUE(asks_at_query("GET", ""));
  EXPECT_TRUE(asks_at_query("POST", ""));
  EXPECT_FALSE(asks_at_query("GET", "start=1h-ago"));
  EXPECT_FALSE(asks_at_query("GET", "end=now"));
  EXPECT_FALSE(asks_at_query("GET", "time=1&start=1"));
}

}  // namespace
}  // namespace halite::web
