#include "query/expression/exp_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/expression/parser.h"
#include "query/parse/aggregator.h"
#include "query/parse/downsample_spec.h"
#include "query/parse/question_check.h"
#include "query/parse/refuse.h"
#include "query/parse/time.h"
#include "query/question.h"

namespace halite::query {
namespace {

// OpenTSDB's message has no reason; the details contain it.
std::unexpected<Error> refuse_time(std::string_view reason) {
  return fail(Errc::kInternal, "Invalid time", fmt::format("Invalid time: {}", reason));
}

Result<void> check_aggregator_of(std::string_view what, const std::string& name) {
  if (find_aggregator(name) != nullptr) return {};
  return refuse_time(
      fmt::format("expected an aggregator as \"aggregator\" of \"{}\", found \"{}\"", what, name));
}

Result<void> check_time(const ExpTime& time, const ParseContext& context) {
  ParseContext zoned = context;
  if (!time.timezone.empty()) zoned.timezone = time.timezone;
  if (time.start.empty()) return refuse_time("missing \"start\"");
  if (const auto start = parse_time(time.start, zoned); !start) {
    return refuse_time(fmt::format("bad \"start\": {}", start.error().message));
  }
  const Result<TimestampMs> end =
      time.end.empty() ? Result<TimestampMs>(zoned.now) : parse_time(time.end, zoned);
  if (!end) return refuse_time(fmt::format("bad \"end\": {}", end.error().message));
  TRY_VOID(check_aggregator_of("time", time.aggregator));
  if (!time.downsampler) return {};
  const ExpTime::Downsampler& downsampler = *time.downsampler;
  // Accepts all intervals of /api/query, including calendar intervals ("1dc") and "0all".
  if (downsampler.interval.empty() || !parse_downsample(downsampler.interval + "-avg")) {
    return refuse_time(
        fmt::format("expected an interval as \"interval\" of \"downsampler\", found \"{}\"",
                    downsampler.interval));
  }
  return check_aggregator_of("downsampler", downsampler.aggregator);
}

// Letters and digits, but not a single digit. Bytes above ASCII count as letters.
bool is_valid_id(std::string_view id) {
  if (id.empty()) return false;
  if (id.size() == 1 && is_digit(id.front())) return false;
  return std::ranges::all_of(
      id, [&](char c) { return is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80; });
}

bool is_valid(const ExpMetric& metric, const ParseContext& context) {
  if (metric.metric.empty() || !is_valid_id(metric.id)) return false;
  if (!metric.aggregator.empty() && find_aggregator(metric.aggregator) == nullptr) return false;
  return metric.time_offset.empty() || parse_time(metric.time_offset, context).has_value();
}

// Ids must be unique among metrics and expressions together.
Result<std::set<std::string>> collect_ids(const ExpQuestion& question) {
  std::set<std::string> ids;
  for (const ExpMetric& metric : question.metrics) {
    if (!ids.insert(metric.id).second) {
      return refuse_as_internal(fmt::format("duplicated metric id: {}", metric.id));
    }
  }
  std::set<std::string> filter_ids;
  if (question.filters) {
    for (const ExpFilter& filter : *question.filters) {
      if (!filter_ids.insert(filter.id).second) {
        return refuse_as_internal(fmt::format("duplicated filter id: {}", filter.id));
      }
    }
  }
  if (!question.expressions) return ids;
  for (const ExpExpression& expression : *question.expressions) {
    if (!ids.insert(expression.id).second) {
      return refuse_as_internal(
          fmt::format("Duplicated variable or expression id: {}", expression.id));
    }
  }
  return ids;
}

Result<void> check_filter_references(const ExpQuestion& question) {
  if (!question.filters) return {};
  for (const ExpMetric& metric : question.metrics) {
    if (metric.filter.empty()) continue;
    if (std::ranges::find(*question.filters, metric.filter, &ExpFilter::id) ==
        question.filters->end()) {
      return refuse_as_internal(
          fmt::format("unrecognized filter id {} in metric {}", metric.filter, metric.id));
    }
  }
  return {};
}

Result<void> check_parts(const ExpQuestion& question, const ParseContext& context) {
  for (std::size_t i = 0; i < question.metrics.size(); ++i) {
    if (!is_valid(question.metrics[i], context)) {
      return refuse_as_internal(fmt::format("Invalid metric at index {}", i));
    }
  }
  if (question.filters) {
    for (std::size_t i = 0; i < question.filters->size(); ++i) {
      if (!is_valid_id((*question.filters)[i].id)) {
        return refuse_as_internal(fmt::format("Invalid filter at index {}", i));
      }
    }
  }
  return {};
}

// OpenTSDB checks the fields and the text of all expressions before any references.
Result<void> parse_expressions(ExpQuestion& question, const ExpressionLimits& limits) {
  if (!question.expressions) return {};
  for (std::size_t i = 0; i < question.expressions->size(); ++i) {
    ExpExpression& expression = (*question.expressions)[i];
    if (!is_valid_id(expression.id) || expression.text.empty()) {
      return refuse_as_internal(fmt::format("Invalid expression at index {}", i));
    }
    auto parsed = parse_expression(expression.text, limits);
    if (!parsed) {
      Error error = std::move(parsed).error();
      if (error.code != Errc::kTooLarge) error.code = Errc::kInternal;
      return std::unexpected(std::move(error));
    }
    expression.expression = *std::move(parsed);
  }
  return {};
}

Result<void> check_variables(const ExpQuestion& question, const std::set<std::string>& ids) {
  if (!question.expressions) return {};
  for (const ExpExpression& expression : *question.expressions) {
    for (const std::string& variable : expression.expression.variables) {
      if (ids.contains(variable)) continue;
      return refuse_as_internal(
          fmt::format("Expression [{}] was missing input {}", expression.text, variable));
    }
  }
  return {};
}

Result<DraftSubQuestion> sub_question(const ExpQuestion& question, const ExpMetric& metric) {
  const ExpTime& time = question.time;
  DraftSubQuestion sub;
  sub.question.metric = metric.metric;
  sub.question.aggregator = metric.aggregator.empty() ? time.aggregator : metric.aggregator;
  if (time.rate) sub.question.rate = RateSpec{};
  if (time.downsampler) {
    sub.downsample = time.downsampler->interval + "-" + time.downsampler->aggregator;
  }
  if (metric.filter.empty()) return sub;
  if (!question.filters || question.filters->empty()) {
    return refuse_as_internal(fmt::format("No filter defined: {}", metric.filter));
  }
  const auto filter = std::ranges::find(*question.filters, metric.filter, &ExpFilter::id);
  sub.question.filters = filter->tags;
  sub.question.explicit_tags = filter->explicit_tags;
  return sub;
}

// Equal metrics share a sub-query.
Result<void> make_question(ExpQuestion& question, const ParseContext& context) {
  DraftQuestion draft;
  draft.start = question.time.start;
  draft.end = question.time.end;
  draft.flags.timezone = question.time.timezone;
  draft.flags.whole_scan = true;
  draft.flags.with_ids = true;
  for (ExpMetric& metric : question.metrics) {
    TRY(DraftSubQuestion sub, sub_question(question, metric));
    const auto same = std::ranges::find(draft.queries, sub);
    metric.query = static_cast<std::size_t>(same - draft.queries.begin());
    if (same == draft.queries.end()) draft.queries.push_back(std::move(sub));
  }
  if (question.expressions) {
    for (const ExpExpression& expression : *question.expressions) {
      if (!expression.expression.variables.empty()) continue;
      return refuse_as_internal("The expression didn't appear to have any variables");
    }
  }
  auto checked = check_question(std::move(draft), context);
  if (!checked) {
    return fail(checked.error().code == Errc::kTooLarge ? Errc::kTooLarge : Errc::kInternal,
                checked.error().message);
  }
  question.question = *std::move(checked);
  return {};
}

}  // namespace

Result<void> check_exp_question(ExpQuestion& question, const ParseContext& context,
                                const ExpLimits& limits) {
  TRY_VOID(check_time(question.time, context));
  if (question.metrics.empty()) return refuse_as_internal("missing or empty metrics");
  if (question.expressions && question.expressions->size() > limits.expressions_max) {
    return fail(Errc::kTooLarge, fmt::format("The query has {} expressions, at most {} are "
                                             "allowed; split it or raise query.expressions_max",
                                             question.expressions->size(), limits.expressions_max));
  }
  TRY(const std::set<std::string> ids, collect_ids(question));
  TRY_VOID(check_parts(question, context));
  TRY_VOID(parse_expressions(question, limits.expression));
  TRY_VOID(check_filter_references(question));
  TRY_VOID(check_variables(question, ids));
  return make_question(question, context);
}

}  // namespace halite::query
