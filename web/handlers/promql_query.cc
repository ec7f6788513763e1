// GET, POST /api/v1/query: a query in PromQL at one time.
// GET, POST /api/v1/query_range: the same at several times. docs/query/promql-api.md
//
// Parameters  query; of one: time (default: now); of several: start, end, step. Both: timeout,
//             lookback_delta: durations; limit: of series; stats: any value adds data.stats. In the
//             URI or in a form
// Answer      200 {"status":"success","data":{"resultType":"vector","result":[..]}}, streamed
// Errors      400 bad_data: a parameter or the expression is wrong; 422 execution: it cannot be
//             evaluated, or a limit; 499 canceled; 503 timeout or unavailable; 500 internal
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/json_string.h"
#include "query/engine/engine.h"
#include "query/engine/promql.h"
#include "web/handlers/handlers.h"
#include "web/handlers/prometheus_request.h"
#include "web/json/prometheus_json.h"
#include "web/metrics.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::int64_t kStepsMax = 11'000;

struct Asked {
  query::PromqlQuestion question;
  PromqlFormat format;
};

// Of both endpoints. The parameters are read in the order in which Prometheus does it, so that the
// first of several errors is the same.
Result<void> read_options(const PrometheusParameters& parameters, Asked& asked) {
  if (!parameters.get("timeout").empty()) {
    const Result<std::int64_t> timeout = parameters.duration("timeout");
    if (!timeout) return std::unexpected(invalid_parameter("timeout", timeout.error()));
    asked.question.timeout_ms = *timeout;
  }
  if (!parameters.get("lookback_delta").empty()) {
    const Result<std::int64_t> lookback = parameters.duration("lookback_delta");
    if (!lookback) {
      return fail(Errc::kInvalidArgument,
                  "error parsing lookback delta duration: " + lookback.error().message);
    }
    if (*lookback > 0) asked.question.lookback_ms = *lookback;
  }
  asked.question.expression = parameters.get("query");
  const std::string_view no_cache = parameters.get("nocache");
  asked.question.no_cache = no_cache == "1" || no_cache == "true";
  const std::string_view stats = parameters.get("stats");
  asked.format.stats = !stats.empty();
  if (asked.format.stats && stats != "true" && stats != "all") {
    asked.format.warning = fmt::format(
        R"(value {} for parameter "stats" is deprecated and will be rejected in the next major )"
        R"(release, use "true" or "all")",
        json_string(stats));
  }
  return {};
}

Result<Asked> instant_asked(const Call& call) {
  TRY(const PrometheusParameters parameters, PrometheusParameters::of(call));
  Asked asked;
  const Result<std::size_t> limit = parameters.limit();
  if (!limit) return std::unexpected(invalid_parameter("limit", limit.error()));
  asked.format.limit = *limit;
  const Result<TimestampMs> time = parameters.time_or("time", call.services.clock.now_ms());
  if (!time) return std::unexpected(invalid_parameter("time", time.error()));
  asked.question.steps = {.begin = *time, .step_ms = 1, .count = 1};
  TRY_VOID(read_options(parameters, asked));
  return asked;
}

Result<void> read_steps(const PrometheusParameters& parameters, query::PromqlQuestion& question) {
  const Result<TimestampMs> start = parameters.time("start");
  if (!start) return std::unexpected(invalid_parameter("start", start.error()));
  const Result<TimestampMs> end = parameters.time("end");
  if (!end) return std::unexpected(invalid_parameter("end", end.error()));
  if (*end < *start) {
    return fail(Errc::kInvalidArgument,
                R"(invalid parameter "end": end timestamp must not be before start time)");
  }
  const Result<std::int64_t> step = parameters.duration("step");
  if (!step) return std::unexpected(invalid_parameter("step", step.error()));
  if (*step <= 0) {
    return fail(Errc::kInvalidArgument,
                R"(invalid parameter "step": zero or negative query resolution step widths are )"
                "not accepted. Try a positive integer");
  }
  const std::int64_t further = (*end - *start) / *step;
  if (further > kStepsMax) {
    return fail(Errc::kInvalidArgument,
                "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the "
                "query resolution (?step=XX)");
  }
  question.steps = {
      .begin = *start, .step_ms = *step, .count = static_cast<std::size_t>(further) + 1};
  question.end = *end;
  return {};
}

Result<Asked> range_asked(const Call& call) {
  TRY(const PrometheusParameters parameters, PrometheusParameters::of(call));
  Asked asked;
  const Result<std::size_t> limit = parameters.limit();
  if (!limit) return std::unexpected(invalid_parameter("limit", limit.error()));
  asked.format.limit = *limit;
  asked.format.range = true;
  asked.question.range = true;
  TRY_VOID(read_steps(parameters, asked.question));
  TRY_VOID(read_options(parameters, asked));
  return asked;
}

asio::awaitable<Response> run_asked(Call& call, Asked asked) {
  QueryLog::RunningQuery logged = call.metrics.queries.begin(
      asked.question, call.request, call.services.clock, call.stop, call.trace);
  auto running = call.services.engine.run_promql(std::move(asked.question), logged.context());
  Result<std::shared_ptr<const query::PromqlAnswer>> answer = co_await std::move(running);
  if (!answer) {
    Response refusal = promql_error(answer.error());
    logged.finish(refusal.status, answer.error().message, {});
    co_return refusal;
  }
  logged.finish(200, "", (*answer)->cost);
  Response response;
  response.content_type = kPrometheusJsonType;
  response.source =
      std::make_unique<PromqlAnswerSource>(*std::move(answer), std::move(asked.format));
  co_return response;
}

}  // namespace

asio::awaitable<Response> handle_promql_query(Call& call) {
  Result<Asked> asked = instant_asked(call);
  if (!asked) co_return bad_data(asked.error());
  co_return co_await run_asked(call, *std::move(asked));
}

asio::awaitable<Response> handle_promql_query_range(Call& call) {
  Result<Asked> asked = range_asked(call);
  if (!asked) co_return bad_data(asked.error());
  co_return co_await run_asked(call, *std::move(asked));
}

}  // namespace halite::web
