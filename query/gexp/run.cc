#include "query/gexp/run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "common/threads/memory_reservation.h"
#include "query/gexp/functions.h"
#include "query/operators/columns.h"
#include "query/parse/question_parse.h"

namespace halite::query {
namespace {

// The parameters of an /api/query request with these sub-queries.
Parameters with_metrics(const Parameters& parameters, const std::vector<std::string>& metrics) {
  Parameters result;
  for (const auto& [key, value] : parameters) {
    if (key != "m" && key != "tsuid" && key != "exp") result.emplace_back(key, value);
  }
  for (const std::string& metric : metrics) result.emplace_back("m", metric);
  return result;
}

std::uint64_t points_bytes(const AnswerSeries& series) {
  return series.times.size() * PointColumns::kBytesPerPoint;
}

// OpenTSDB 2.4 treats the closing quote of "'1hr'" as a part of the unit, so it knows no unit.
Result<void> refuse_shifts(const GexpCall& call) {
  if ((call.function == "shift" || call.function == "timeShift") && !call.parameters.empty()) {
    const std::string_view text = call.parameters.front();
    const std::size_t unit = text.find_first_not_of("0123456789", 1);
    if (text.starts_with('\'') && unit != 1 && unit != std::string_view::npos) {
      std::string why = fmt::format("unknown time unit={}", text.substr(unit));
      return fail(Errc::kInvalidArgument, why, why);
    }
  }
  for (const auto& argument : call.series) {
    if (const auto* nested = std::get_if<GexpCall>(&argument)) TRY_VOID(refuse_shifts(*nested));
  }
  return {};
}

class Runner {
 public:
  Runner(const GexpQuestion& question, const Answer& answer, QueryBudget& budget)
      : question_(question), answer_(answer), budget_(budget) {}

  Result<SeriesList> run(const GexpCall& call) {
    MemoryReservation reservation(budget_);
    std::vector<SeriesList> arguments;
    for (const auto& argument : call.series) {
      if (const auto* nested = std::get_if<GexpCall>(&argument)) {
        TRY(SeriesList series, run(*nested));
        for (const AnswerSeries& one : series) TRY_VOID(reservation.add(points_bytes(one)));
        arguments.push_back(std::move(series));
        continue;
      }
      const std::size_t index = question_.queries.at(std::get<GexpMetric>(argument).text);
      SeriesList& series = arguments.emplace_back();
      for (const AnswerSeries& one : answer_.series) {
        if (one.query_index != index) continue;
        TRY_VOID(budget_.check());
        TRY_VOID(reservation.add(points_bytes(one)));
        series.push_back(one);
      }
    }
    const GexpFunction function = find_gexp_function(call.function);
    HALITE_CHECK(function != nullptr, "the parser lets only known functions through");
    TRY_VOID(budget_.check());
    return function(std::move(arguments), call.parameters);
  }

 private:
  const GexpQuestion& question_;
  const Answer& answer_;
  QueryBudget& budget_;
};

}  // namespace

Result<GexpQuestion> parse_gexp_question(const Parameters& parameters, const ParseContext& context,
                                         const GexpLimits& limits) {
  GexpQuestion question;
  const auto start = std::ranges::find(parameters, "start", [](const auto& p) { return p.first; });
  if (start == parameters.end() || start->second.empty()) {
    return fail(Errc::kInvalidArgument, "Missing parameter <code>start</code>");
  }
  std::vector<std::string> metrics;
  for (const auto& [key, value] : parameters) {
    if (key != "exp") continue;
    if (question.calls.size() == limits.expressions_max) {
      return fail(
          Errc::kTooLarge,
          fmt::format(
              "The query has more than {} expressions; split it or raise query.expressions_max",
              limits.expressions_max));
    }
    TRY(GexpCall call, parse_gexp(value, limits.expression));
    if (!limits.shift) TRY_VOID(refuse_shifts(call));
    collect_metrics(call, metrics);
    question.calls.push_back(std::move(call));
  }
  TRY(question.question, parse_question_uri(with_metrics(parameters, metrics), context));
  question.question.with_ids = true;
  // Duplicate sub-queries were removed; find the index of each text.
  for (const std::string& metric : metrics) {
    if (question.queries.contains(metric)) continue;
    TRY(const Question alone, parse_question_uri(with_metrics(parameters, {metric}), context));
    const auto& all = question.question.queries;
    const auto found = std::ranges::find(all, alone.queries.front());
    HALITE_CHECK(found != all.end(), "a sub-query means the same alone and with others");
    question.queries.emplace(metric, static_cast<std::size_t>(found - all.begin()));
  }
  return question;
}

Result<Answer> run_gexp(const GexpQuestion& question, const Answer& answer, QueryBudget& budget) {
  Answer result{
      .question = answer.question, .series = {}, .global_annotations = {}, .cost = answer.cost};
  MemoryReservation reservation(budget);
  for (const GexpCall& call : question.calls) {
    TRY(SeriesList series, Runner(question, answer, budget).run(call));
    for (AnswerSeries& one : series) {
      TRY_VOID(reservation.add(points_bytes(one)));
      result.series.push_back(std::move(one));
    }
  }
  return result;
}

}  // namespace halite::query
