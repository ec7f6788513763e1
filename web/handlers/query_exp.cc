// POST /api/query/exp: expressions over series.
//
// POST        {"time":{"start","end","aggregator","downsampler","rate"},"filters":[..],
//             "metrics":[{"id","metric","filter",..}],"expressions":[{"id","expr","join",..}],
//             "outputs":[{"id","alias"}]}: query/expression/exp_question.h
// Answer      200 {"outputs":[{"id","dps":[[ms,value,..],..],"dpsMeta":{},"meta":[..]}],"query":{}}
// Errors      400 the body is invalid, also for methods other than POST (500 with
//             --opentsdb-conf); unknown names, recursive expressions, values that cannot be
//             computed; otherwise as in /api/query
#include <memory>
#include <optional>
#include <utility>

#include "query/answer.h"
#include "query/engine/engine.h"
#include "query/expression/exp_run.h"
#include "query/limits.h"
#include "query/parse/parse_context.h"
#include "query/query_budget.h"
#include "web/handlers/handlers.h"
#include "web/handlers/query_errors.h"
#include "web/json/error_map.h"
#include "web/json/exp_out.h"
#include "web/request_trace.h"

namespace halite::web {

namespace asio = boost::asio;

asio::awaitable<Response> handle_query_exp(Call& call) {
  const query::QueryLimits& limits = call.services.engine.limits();
  const query::ParseContext context = parse_context(call);
  const query::ExpLimits exp_limits{.expressions_max = limits.expressions_max,
                                    .expression = {.bytes_max = limits.expression_bytes_max,
                                                   .depth_max = limits.expression_depth_max}};
  if (call.trace != nullptr) call.trace->set_query(call.request.body);
  std::optional<SpanLog::Timed> timed(std::in_place, spans_of(call.trace).get(), "parse");
  Result<query::ExpQuestion> question =
      query::parse_exp_question(call.request.body, context, exp_limits);
  timed.reset();
  if (!question) co_return question_error(call, question.error());
  auto made = std::make_shared<query::ExpAnswer>();
  made->question = *std::move(question);
  query::Afterwork compute = [made](const query::Answer& answer,
                                    query::QueryBudget& budget) -> Result<void> {
    TRY(made->outputs, query::run_exp(made->question, answer, budget));
    return {};
  };
  Result<std::shared_ptr<const query::Answer>> answer = co_await call.services.engine.run(
      made->question.question, run_context(call), std::move(compute));
  if (!answer) co_return query_run_error(call, answer.error());
  Response response;
  response.source =
      std::make_unique<ExpAnswerSource>(std::move(made), (*answer)->room, call.target.grafana);
  co_return response;
}

}  // namespace halite::web
