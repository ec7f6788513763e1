// GET, POST /api/query/explain: estimates the cost of a query without running it.
//
// GET         the parameters of GET /api/query
// POST        the body of POST /api/query
// Answer      200 {"queries":[{"index","metric","series","shards","rows","points","storedBytes",
//             "groups","outputPoints","memoryBytes","cpuMs"},..],"total":{..},"estimatedMs",
//             "limits":[{"name","limit","expected","exceeded"},..],"refused"};
//             docs/query/explain.md describes the fields. On HBase each query also has "scans";
//             if the metric has views, "views":[{"name","answers":true},..], or false and "why";
//             with "accuracy" if the answer would be approximate
//             Deletes nothing; on HBase it reads some rows
// Errors      as in /api/query, but too many series are reported, not refused; 501 the store
//             cannot estimate; 405 other methods
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/json_list.h"
#include "common/json_string.h"
#include "query/answer/explain.h"
#include "query/engine/engine.h"
#include "query/question.h"
#include "web/handlers/handlers.h"
#include "web/handlers/query_errors.h"
#include "web/json/json_out.h"
#include "web/request_trace.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

std::string costs(const query::ExplainedQuery& query) {
  return fmt::format(
      R"("series":{},"shards":{},"rows":{},"points":{},"storedBytes":{},"groups":{},)"
      R"("outputPoints":{},"memoryBytes":{},"cpuMs":{})",
      query.series, query.shards, query.rows, query.points, query.stored_bytes, query.groups,
      query.output_points, query.memory_bytes, std::llround(query.cpu_ms));
}

void append_scans(std::string& json, const std::vector<storage::PlannedScan>& scans) {
  json += ",\"scans\":";
  append_json_list(json, scans, [&](const storage::PlannedScan& scan) {
    json += fmt::format(R"({{"shard":{},"start":"{}","stop":"{}","filter":)", scan.shard,
                        to_hex(scan.text.begin), to_hex(scan.text.end));
    append_json_string(json, scan.text.filter);
    json += fmt::format(",\"cellsSince\":{}}}", scan.text.cells_since);
  });
}

void append_views(std::string& json, const std::vector<query::ExplainedView>& views) {
  json += ",\"views\":";
  append_json_list(json, views, [&](const query::ExplainedView& view) {
    json += "{\"name\":";
    append_json_string(json, view.name);
    json += ",\"answers\":";
    json += view.why_not.empty() ? "true" : "false,\"why\":";
    if (!view.why_not.empty()) append_json_string(json, view.why_not);
    if (view.why_not.empty() && view.approximate) append_accuracy(json);
    json += '}';
  });
}

std::string to_json(const query::Explanation& explanation) {
  std::string json = "{\"queries\":[";
  for (std::size_t i = 0; i < explanation.queries.size(); ++i) {
    const query::SubQuestion& asked = explanation.question.queries[i];
    if (i > 0) json += ',';
    json += fmt::format("{{\"index\":{},\"metric\":", i);
    if (asked.metric.empty()) {
      json += "null";  // a sub-query with tsuids
    } else {
      append_json_string(json, asked.metric);
    }
    json += ',' + costs(explanation.queries[i]);
    if (!explanation.queries[i].scans.empty()) append_scans(json, explanation.queries[i].scans);
    if (!explanation.queries[i].views.empty()) append_views(json, explanation.queries[i].views);
    json += '}';
  }
  json += fmt::format("],\"total\":{{{}}},\"estimatedMs\":{},\"limits\":", costs(explanation.total),
                      std::llround(explanation.estimated_ms));
  bool refused = false;
  append_json_list(json, explanation.limits, [&](const query::ExplainedLimit& limit) {
    json += fmt::format(R"({{"name":"{}","limit":{},"expected":{},"exceeded":{}}})", limit.name,
                        limit.limit, limit.expected, limit.exceeded());
    refused = refused || limit.exceeded();
  });
  json += fmt::format(",\"refused\":{}}}", refused);
  return json;
}

}  // namespace

asio::awaitable<Response> handle_query_explain(Call& call) {
  if (call.request.method != "GET" && call.request.method != "POST") {
    co_return error_response(call, 405, "Method not allowed",
                             "Explain a query with GET or POST, not " + call.request.method);
  }
  Result<query::Question> question = parse_question(call);
  if (!question) co_return question_error(call, question.error());
  Result<std::shared_ptr<const query::Explanation>> explanation =
      co_await call.services.engine.explain(std::move(*question), run_context(call));
  if (!explanation) co_return query_run_error(call, explanation.error());
  co_return json_response(200, to_json(**explanation));
}

}  // namespace halite::web
