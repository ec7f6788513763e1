#include "query/expression/exp_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/threads/memory_reservation.h"
#include "query/expression/evaluate.h"
#include "query/expression/join.h"

namespace halite::query {
namespace {

// A value and its time.
constexpr std::size_t kValueBytes = sizeof(double) + sizeof(TimestampMs);
constexpr TimestampMs kNever = std::numeric_limits<TimestampMs>::max();

using Uses = std::vector<std::vector<std::size_t>>;  // for each expression: those that it uses

// Whether `from` uses `to`, directly or indirectly.
bool reaches(const Uses& uses, std::size_t from, std::size_t to) {
  std::vector<bool> seen(uses.size());
  std::vector<std::size_t> waiting = {from};
  while (!waiting.empty()) {
    const std::size_t at = waiting.back();
    waiting.pop_back();
    if (at == to) return true;
    if (seen[at]) continue;
    seen[at] = true;
    waiting.insert(waiting.end(), uses[at].begin(), uses[at].end());
  }
  return false;
}

// Orders expressions so that each comes after those that it uses. Returns indexes into
// `expressions`. kInvalidArgument: one uses itself, directly or indirectly.
Result<std::vector<std::size_t>> order_of(std::span<const ExpExpression> expressions) {
  std::map<std::string, std::size_t> index;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    index.emplace(expressions[i].id, i);
    ids.push_back(expressions[i].id);
  }
  Uses uses(expressions.size());
  // OpenTSDB iterates over its map of expressions and names the one that closes the cycle.
  for (const std::string& id : java_hash_order(std::move(ids), expressions.size())) {
    const std::size_t at = index.at(id);
    for (const std::string& variable : expressions[at].expression.variables) {
      const auto used = index.find(variable);
      if (used == index.end()) continue;
      if (used->second == at) {
        return fail(Errc::kInvalidArgument,
                    fmt::format("Self referencing expression found: {}", id));
      }
      if (reaches(uses, used->second, at)) {
        return fail(Errc::kInvalidArgument, fmt::format("Circular reference found: {}", id));
      }
      uses[at].push_back(used->second);
    }
  }
  std::vector<std::size_t> order;
  std::vector<bool> done(expressions.size());
  while (order.size() < expressions.size()) {
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      if (done[i]) continue;
      if (!std::ranges::all_of(uses[i], [&done](std::size_t used) { return done[used]; })) continue;
      done[i] = true;
      order.push_back(i);
    }
  }
  return order;
}

// The value of a variable in an expression.
struct Input {
  std::vector<ExpressionSeries> series;
  std::set<std::string> query_tags;
  std::optional<NumericFill> fill;  // none: a missing value is an error
};

// Iterates over the series of one input, by time.
class Cursor {
 public:
  Cursor(const std::vector<ExpressionSeries>& series, const std::vector<bool>& dropped)
      : series_(series), dropped_(dropped), at_(series.size()) {}

  [[nodiscard]] TimestampMs next_time() const {
    TimestampMs time = kNever;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      if (!dropped_[i] && at_[i] < series_[i].times.size()) {
        time = std::min(time, series_[i].times[at_[i]]);
      }
    }
    return time;
  }

  // NaN if the series has no point at that time.
  [[nodiscard]] double value(std::size_t series, TimestampMs time) const {
    const ExpressionSeries& one = series_[series];
    const std::size_t at = at_[series];
    if (at < one.times.size() && one.times[at] == time) return one.values[at];
    return std::numeric_limits<double>::quiet_NaN();
  }

  void pass(TimestampMs time) {
    for (std::size_t i = 0; i < series_.size(); ++i) {
      if (at_[i] < series_[i].times.size() && series_[i].times[at_[i]] <= time) ++at_[i];
    }
  }

 private:
  const std::vector<ExpressionSeries>& series_;
  const std::vector<bool>& dropped_;
  std::vector<std::size_t> at_;
};

class Runner {
 public:
  Runner(const ExpQuestion& question, const Answer& answer, QueryBudget& budget)
      : question_(question), answer_(answer), budget_(budget), held_(budget) {}

  Result<std::vector<ExpTable>> run() {
    for (const ExpMetric& metric : question_.metrics) TRY_VOID(read_metric(metric));
    if (question_.expressions) {
      TRY(const std::vector<std::size_t> order, order_of(*question_.expressions));
      const std::set<std::string> needed = needed_ids(order);
      for (const std::size_t i : order) {
        const ExpExpression& expression = (*question_.expressions)[i];
        if (needed.contains(expression.id)) TRY_VOID(compute(expression));
      }
    }
    std::vector<ExpTable> outputs;
    for (const ExpOutput& output : wanted()) {
      if (const auto found = inputs_.find(output.id); found != inputs_.end()) {
        TRY(ExpTable table, table_of(output, found->second));
        outputs.push_back(std::move(table));
      }
    }
    return outputs;
  }

 private:
  [[nodiscard]] std::vector<ExpOutput> wanted() const {
    if (question_.outputs && !question_.outputs->empty()) return *question_.outputs;
    std::vector<ExpOutput> outputs;
    if (question_.expressions && !question_.expressions->empty()) {
      for (const auto& expression : *question_.expressions) outputs.push_back({expression.id, ""});
    } else {
      for (const ExpMetric& metric : question_.metrics) outputs.push_back({metric.id, ""});
    }
    return outputs;
  }

  // The outputs and all that they use. Errors in other expressions do not matter.
  [[nodiscard]] std::set<std::string> needed_ids(const std::vector<std::size_t>& order) const {
    std::set<std::string> needed;
    for (const ExpOutput& output : wanted()) needed.insert(output.id);
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      const ExpExpression& expression = (*question_.expressions)[*i];
      if (!needed.contains(expression.id)) continue;
      needed.insert(expression.expression.variables.begin(), expression.expression.variables.end());
    }
    return needed;
  }

  // Omits series without points (for example the rate of one point).
  Result<void> read_metric(const ExpMetric& metric) {
    Input& input = inputs_[metric.id];
    input.fill = metric.fill.value_or(NumericFill{});
    for (const Filter& filter : question_.question.queries[metric.query].filters) {
      input.query_tags.insert(filter.filter.key);
    }
    for (const AnswerSeries& series : answer_.series) {
      if (series.query_index == metric.query && !series.times.empty()) {
        TRY_VOID(budget_.check());
        TRY_VOID(held_.add(series.times.size() * kValueBytes));
        input.series.push_back(expression_series(series));
      }
    }
    return {};
  }

  Result<void> count(std::size_t values) {
    values_ += values;
    TRY_VOID(budget_.check());
    TRY_VOID(held_.add(values * kValueBytes));
    const std::uint64_t values_max = budget_.limits().output_points_max;
    if (values_ <= values_max) return {};
    return fail(Errc::kTooLarge,
                fmt::format("Expressions produce more than {} values (query.output_points_max); "
                            "query fewer series or a shorter time range, or raise that setting",
                            values_max));
  }

  Result<void> compute(const ExpExpression& expression) {
    const std::vector<std::string>& names = expression.expression.variables;
    std::vector<JoinInput> joined;
    std::vector<const Input*> inputs;
    for (const std::string& name : names) {
      const Input& input = inputs_.at(name);
      inputs.push_back(&input);
      joined.push_back({.id = name, .series = &input.series, .query_tags = input.query_tags});
    }
    TRY(Join matched, join(joined, expression.join, expression.id));
    Input result;
    result.fill = expression.fill;
    for (JoinedSeries& series : matched.series) {
      result.series.push_back({.meaning = std::move(series.meaning), .times = {}, .values = {}});
    }
    std::vector<Cursor> cursors;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      cursors.emplace_back(inputs[i]->series, matched.dropped[i]);
    }
    ExpressionRun evaluate(expression.expression);
    std::vector<double> values(names.size());
    for (TimestampMs time = next_time(cursors); time != kNever; time = next_time(cursors)) {
      TRY_VOID(count(matched.series.size()));
      for (std::size_t row = 0; row < matched.series.size(); ++row) {
        for (std::size_t i = 0; i < names.size(); ++i) {
          TRY(values[i],
              value_of(names[i], *inputs[i], cursors[i], matched.series[row].members[i], time));
        }
        TRY(const double value, evaluate(values));
        result.series[row].times.push_back(time);
        result.series[row].values.push_back(value);
      }
      for (Cursor& cursor : cursors) cursor.pass(time);
    }
    inputs_.emplace(expression.id, std::move(result));
    return {};
  }

  static TimestampMs next_time(const std::vector<Cursor>& cursors) {
    TimestampMs time = kNever;
    for (const Cursor& cursor : cursors) time = std::min(time, cursor.next_time());
    return time;
  }

  // A series that is missing in an input of a union is 0; a missing value of a series is filled.
  static Result<double> value_of(const std::string& name, const Input& input, const Cursor& cursor,
                                 std::optional<std::size_t> member, TimestampMs time) {
    if (!member) return 0.0;
    const double value = cursor.value(*member, time);
    if (!std::isnan(value)) return value;
    if (input.fill) return input.fill->value;
    return fail(Errc::kInvalidArgument,
                fmt::format("Expression {} has no value at {} for an expression that uses it; give "
                            "{} a fillPolicy",
                            name, time, name));
  }

  Result<ExpTable> table_of(const ExpOutput& output, const Input& input) {
    const bool is_metric =
        std::ranges::find(question_.metrics, output.id, &ExpMetric::id) != question_.metrics.end();
    ExpTable table;
    table.id = output.id;
    table.alias = output.alias;
    for (const ExpressionSeries& series : input.series) table.columns.push_back(series.meaning);
    table.values.resize(input.series.size());
    const std::vector<bool> none_dropped(input.series.size());
    Cursor cursor(input.series, none_dropped);
    for (TimestampMs time = cursor.next_time(); time != kNever; time = cursor.next_time()) {
      // Metrics are output as read, expressions only in the query's range.
      const Question& asked = question_.question;
      if (is_metric || (time >= asked.begin && time < asked.end)) {
        TRY_VOID(count(input.series.size()));
        table.times.push_back(time);
        for (std::size_t i = 0; i < input.series.size(); ++i) {
          const double value = cursor.value(i, time);
          // Metrics have zeros for gaps, whatever their fill policy. Expressions have no gaps.
          const bool gap = is_metric && std::isnan(value) && !has_point(input.series[i], time);
          table.values[i].push_back(gap ? 0 : value);
        }
      }
      cursor.pass(time);
    }
    tell_range(is_metric, table);
    return table;
  }

  static bool has_point(const ExpressionSeries& series, TimestampMs time) {
    return std::ranges::binary_search(series.times, time);
  }

  static void tell_range(bool is_metric, ExpTable& table) {
    if (table.times.empty()) {
      table.first_time = is_metric ? kNever : 0;
      return;
    }
    table.first_time = table.times.front();
    if (is_metric || table.times.size() > 1) table.last_time = table.times.back();
  }

  const ExpQuestion& question_;
  const Answer& answer_;
  QueryBudget& budget_;
  MemoryReservation held_;
  std::uint64_t values_ = 0;
  std::map<std::string, Input> inputs_;  // metrics and computed expressions, by id
};

}  // namespace

Result<std::vector<ExpTable>> run_exp(const ExpQuestion& question, const Answer& answer,
                                      QueryBudget& budget) {
  return Runner(question, answer, budget).run();
}

}  // namespace halite::query
