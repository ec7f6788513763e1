// GET, POST /api/v1/format_query: an expression in its canonical form.
// GET, POST /api/v1/parse_query: an expression as a tree in JSON.
// GET, POST /api/v1/query_exemplars: none, because exemplars are not stored.
//
// Parameters  query, in the URI or in a form; query_exemplars also start and end
// Answer      200 {"status":"success","data":..}; 204 for exemplars without a selector in the query
// Errors      400 bad_data
#include <algorithm>
#include <string>
#include <variant>

#include "common/json_string.h"
#include "query/engine/engine.h"
#include "query/promql/operator_walk.h"
#include "query/promql/parse.h"
#include "query/promql/print.h"
#include "web/handlers/handlers.h"
#include "web/handlers/prometheus_request.h"
#include "web/json/prometheus_json.h"

namespace halite::web {

namespace asio = boost::asio;
namespace promql = query::promql;

namespace {

Result<promql::ExprPtr> parsed_query(const Call& call, const PrometheusParameters& parameters) {
  return promql::parse(parameters.get("query"), call.services.engine.promql_options());
}

Response text_answer(const Call& call, Result<std::string> (*data)(const promql::Expr&)) {
  const Result<PrometheusParameters> parameters = PrometheusParameters::of(call);
  if (!parameters) return bad_data(parameters.error());
  const Result<promql::ExprPtr> expr = parsed_query(call, *parameters);
  if (!expr) return bad_data(invalid_parameter("query", expr.error()));
  const Result<std::string> text = data(**expr);
  if (!text) return bad_data(invalid_parameter("query", text.error()));
  return prometheus_success(*text);
}

Result<std::string> pretty_json(const promql::Expr& expr) {
  TRY(const std::string text, promql::pretty(expr));
  std::string json;
  append_prometheus_text(json, text);
  return json;
}

Result<std::string> tree_of(const promql::Expr& expr) { return promql::tree_json(expr); }

bool has_selector(const promql::Expr* expr);

struct SelectorSearch {
  bool operator()(const promql::NumberLiteral& /*number*/) const { return false; }
  bool operator()(const promql::StringLiteral& /*text*/) const { return false; }
  bool operator()(const promql::VectorSelector& /*selector*/) const { return true; }
  bool operator()(const promql::MatrixSelector& /*selector*/) const { return true; }
  bool operator()(const promql::Subquery& subquery) const {
    return has_selector(subquery.expr.get());
  }
  bool operator()(const promql::Call& call) const {
    return std::ranges::any_of(call.arguments,
                               [](const auto& argument) { return has_selector(argument.get()); });
  }
  bool operator()(const promql::Aggregation& aggregation) const {
    return has_selector(aggregation.expr.get()) || has_selector(aggregation.parameter.get());
  }
  bool operator()(const promql::Binary& /*binary*/) const { return false; }  // its operands may
  bool operator()(const promql::Unary& unary) const { return has_selector(unary.expr.get()); }
  bool operator()(const promql::Parentheses& parentheses) const {
    return has_selector(parentheses.expr.get());
  }
};

bool has_selector(const promql::Expr* expr) {
  if (expr == nullptr) return false;
  promql::OperatorWalk<const promql::Expr> walk(*expr);
  while (const auto step = walk.next()) {
    if (std::visit(SelectorSearch{}, step->expr->node)) return true;
  }
  return false;
}

Result<bool> has_selector_in_query(const Call& call) {
  TRY(const PrometheusParameters parameters, PrometheusParameters::of(call));
  const Result<TimestampMs> start = parameters.time_or("start", -kPrometheusTimeMax);
  if (!start) return std::unexpected(invalid_parameter("start", start.error()));
  const Result<TimestampMs> end = parameters.time_or("end", kPrometheusTimeMax);
  if (!end) return std::unexpected(invalid_parameter("end", end.error()));
  if (*end < *start) {
    return fail(Errc::kInvalidArgument, "end timestamp must not be before start timestamp");
  }
  TRY(const promql::ExprPtr expr, parsed_query(call, parameters));
  return has_selector(expr.get());
}

}  // namespace

asio::awaitable<Response> handle_format_query(Call& call) {
  co_return text_answer(call, pretty_json);
}

asio::awaitable<Response> handle_parse_query(Call& call) { co_return text_answer(call, tree_of); }

asio::awaitable<Response> handle_query_exemplars(Call& call) {
  const Result<bool> selects = has_selector_in_query(call);
  if (!selects) co_return bad_data(selects.error());
  if (!*selects) co_return text_response(204, "", "");
  co_return prometheus_success("[]");
}

}  // namespace halite::web
