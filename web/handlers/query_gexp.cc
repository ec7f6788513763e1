// GET /api/query/gexp: functions of series in the style of Graphite.
//
// GET         start, end and the flags of /api/query; exp=<function>(<argument>,..) (repeatable).
//             Arguments are functions, sub-queries in the syntax of m=, numbers and texts:
//             alias absolute scale movingAverage highestMax highestCurrent sum[Series]
//             diff[erence|Series] multiply[Series] divide[Series] shift timeShift (with
//             --opentsdb-conf the last two are refused, as by OpenTSDB 2.4)
// Answer      200 as in /api/query
// Errors      400 the expression is invalid or names no function (500 with --opentsdb-conf);
//             its parameters, its sub-queries or their series are invalid; otherwise as in
//             /api/query
#include <memory>
#include <optional>
#include <utility>

#include "query/answer.h"
#include "query/engine/engine.h"
#include "query/gexp/run.h"
#include "query/limits.h"
#include "query/parse/parse_context.h"
#include "query/query_budget.h"
#include "web/handlers/handlers.h"
#include "web/handlers/query_errors.h"
#include "web/json/error_map.h"
#include "web/json/json_out.h"
#include "web/request_trace.h"

namespace halite::web {

namespace asio = boost::asio;

asio::awaitable<Response> handle_query_gexp(Call& call) {
  const query::QueryLimits& limits = call.services.engine.limits();
  const query::ParseContext context = parse_context(call);
  const query::GexpLimits gexp_limits{.shift = !call.options.opentsdb_words,
                                      .expressions_max = limits.expressions_max,
                                      .expression = {.bytes_max = limits.expression_bytes_max,
                                                     .depth_max = limits.expression_depth_max}};
  if (call.request.method != "GET") {
    co_return error_response(call, 400, "Send expressions with GET",
                             "Expected GET /api/query/gexp?start=..&exp=..");
  }
  if (call.trace != nullptr) call.trace->set_query(call.target.get("exp"));
  std::optional<SpanLog::Timed> timed(std::in_place, spans_of(call.trace).get(), "parse");
  Result<query::GexpQuestion> parsed =
      query::parse_gexp_question(call.target.parameters, context, gexp_limits);
  timed.reset();
  if (!parsed) co_return question_error(call, parsed.error());
  const auto question = std::make_shared<const query::GexpQuestion>(*std::move(parsed));
  auto made = std::make_shared<query::Answer>();
  query::Afterwork compute = [question, made](const query::Answer& answer,
                                              query::QueryBudget& budget) -> Result<void> {
    TRY(*made, query::run_gexp(*question, answer, budget));
    return {};
  };
  Result<std::shared_ptr<const query::Answer>> answer =
      co_await call.services.engine.run(question->question, run_context(call), std::move(compute));
  if (!answer) co_return query_run_error(call, answer.error());
  made->room = (*answer)->room;
  Response response;
  response.source = std::make_unique<AnswerSource>(
      std::move(made), AnswerFormat{.plain_numbers = call.target.grafana});
  co_return response;
}

}  // namespace halite::web
