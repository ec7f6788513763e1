// GET, POST, DELETE /api/query: reads points.
//
// GET         start, end, m=<agg>:[..:]<metric>[{tags}][{filters}], tsuid, ms, arrays, show_query,
//             show_tsuids, show_stats, show_summary, ..: query/parse/question_uri.cc
// POST        {"start","end","queries":[{"aggregator","metric",..}],..}; ?arrays and
//             ?as_stored in the URI as well: query/parse/question_json.cc
// DELETE      as GET, and removes the points in the answer; so does POST with "delete":true. Both
//             require web.allow_delete. GET with method_override=delete removes them if that is
//             allowed (it also requires web.get_may_write), and otherwise only reads
// Answer      200 [{"metric","tags","aggregateTags","dps":{"<s>":number,..}},..], streamed. Under
//             the prefix /grafana without points that are not JSON numbers, and always with
//             globalAnnotations, in the first series only: Grafana 12.4 does not request them and
//             shows them once for each series
// /exp, /gexp, /explain, /last  have their own files; other segments after it are ignored
// Errors      400 the query is invalid, or names something unknown (with --opentsdb-conf 500 as in
//             OpenTSDB: some errors in the URI's syntax); 408 too slow; 413 above a limit; 424 the
//             store failed
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/answer.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/parse/parse_context.h"
#include "query/parse/question_parse.h"
#include "web/authorize.h"
#include "web/handlers/handlers.h"
#include "web/handlers/query_errors.h"
#include "web/http/api_method.h"
#include "web/json/error_map.h"
#include "web/json/json_out.h"
#include "web/metrics.h"
#include "web/request_trace.h"

namespace halite::web {

namespace asio = boost::asio;

query::ParseContext parse_context(const Call& call) {
  const query::QueryLimits& limits = call.services.engine.limits();
  return {.now = call.services.clock.now_ms(),
          .timezone = call.options.timezone,
          .regexps = storage::Regexps(limits.regexp_bytes_max),
          .sub_queries_max = limits.sub_queries_max,
          .metric_width = call.options.metric_width,
          .opentsdb_words = call.options.opentsdb_words};
}

Result<query::Question> parse_question(const Call& call) {
  const SpanLog::Timed timed(spans_of(call.trace).get(), "parse");
  const query::ParseContext context = parse_context(call);
  if (call.request.method == "POST") {
    if (call.request.body.empty()) {
      return fail(Errc::kInvalidArgument, "Missing message content",
                  "Supply valid JSON formatted data in the body of your request");
    }
    return query::parse_question_json(call.request.body, call.target.parameters, context);
  }
  return query::parse_question_uri(call.target.parameters, context);
}

namespace {

Response delete_refused(const Call& call) {
  const std::string_view setting =
      call.options.opentsdb_words ? "tsd.http.query.allow_delete" : "web.allow_delete";
  return error_response(call, 400, "Bad request",
                        fmt::format("Deleting data is not enabled ({}=false)", setting));
}

}  // namespace

Response question_error(const Call& call, const Error& error) {
  return error.code == Errc::kInternal ? mistake_response(call, error)
                                       : error_response(call, error);
}

Response query_run_error(const Call& call, const Error& error) {
  int status = http_status(error.code);
  if (error.code == Errc::kNotFound) status = 400;
  if (error.code == Errc::kUnavailable || error.code == Errc::kCorruption) status = 424;
  const bool repeats = status == 400 && error.details.empty();
  return error_response(call, status, error.message, repeats ? error.message : error.details);
}

asio::awaitable<Response> handle_query(Call& call) {
  const bool removes = call.request.method == "DELETE";
  if (removes && !call.options.allow_delete) co_return delete_refused(call);
  const std::string kind = call.target.rest.empty() ? "" : to_lower(call.target.rest.front());
  if (kind == "exp") co_return co_await handle_query_exp(call);
  if (kind == "explain") co_return co_await handle_query_explain(call);
  if (kind == "gexp") co_return co_await handle_query_gexp(call);
  if (kind == "last") co_return co_await handle_query_last(call);
  Result<query::Question> question = parse_question(call);
  if (!question) co_return question_error(call, question.error());
  if (std::optional<Response> refusal = override_method(call)) co_return std::move(*refusal);
  question->global_annotations |= call.target.grafana;
  // An override that may not delete, or that a query does not support, leaves a GET unchanged.
  question->delete_points |=
      removes || (call.request.method == "DELETE" && call.options.allow_delete);
  if (question->delete_points && !call.options.allow_delete) co_return delete_refused(call);
  if (question->delete_points) {
    if (std::optional<Response> refusal = refuse_change(call, Role::kAdmin)) {
      co_return std::move(*refusal);
    }
  }
  QueryLog::RunningQuery logged = call.metrics.queries.begin(
      *question, call.request, call.services.clock, call.stop, call.trace);
  Result<std::shared_ptr<const query::Answer>> answer =
      co_await call.services.engine.run(std::move(*question), logged.context());
  if (!answer) {
    Response refusal = query_run_error(call, answer.error());
    logged.finish(refusal.status, answer.error().message, {});
    co_return refusal;
  }
  logged.finish(200, "", (*answer)->cost);
  Response response;
  response.source = std::make_unique<AnswerSource>(
      std::move(*answer),
      AnswerFormat{.plain_numbers = call.target.grafana, .globals_once = call.target.grafana});
  co_return response;
}

}  // namespace halite::web
