// The "query" object of /api/query/exp.
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "common/java/java_double.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "query/parse/downsample_spec.h"
#include "web/json/exp_out.h"

namespace halite::web {

namespace {

void append_text(std::string& to, std::string_view before, std::string_view text) {
  to += before;
  if (text.empty()) {
    to += "null";
  } else {
    append_json_string(to, text);
  }
}

void append_fill(std::string& to, const std::optional<query::NumericFill>& fill) {
  to += ",\"fillPolicy\":";
  if (!fill) {
    to += "null";
    return;
  }
  fmt::format_to(std::back_inserter(to),
                 "{{\"policy\":\"{}\",\"value\":", query::fill_policy_name(fill->policy));
  if (std::isfinite(fill->value)) {
    append_java_double(to, fill->value);
  } else {
    to += "\"NaN\"";
  }
  to += '}';
}

// `write` appends one item.
template <class List, class Write>
void append_list(std::string& to, std::string_view before, const std::optional<List>& list,
                 Write write) {
  to += before;
  if (!list) {
    to += "null";
    return;
  }
  append_json_list(to, *list, write);
}

void append_time(std::string& to, const query::ExpTime& time) {
  append_text(to, ",\"time\":{\"start\":", time.start);
  append_text(to, ",\"end\":", time.end);
  append_text(to, ",\"timezone\":", time.timezone);
  to += ",\"downsampler\":";
  if (time.downsampler) {
    append_text(to, "{\"interval\":", time.downsampler->interval);
    append_text(to, ",\"aggregator\":", time.downsampler->aggregator);
    append_fill(to, time.downsampler->fill);
    to += '}';
  } else {
    to += "null";
  }
  append_text(to, ",\"aggregator\":", time.aggregator);
  fmt::format_to(std::back_inserter(to), ",\"rate\":{}}}", time.rate);
}

void append_filter(std::string& to, const query::ExpFilter& filter) {
  append_text(to, "{\"id\":", filter.id);
  to += ",\"tags\":";
  append_json_list(to, filter.tags, [&to](const query::Filter& tag) {
    append_text(to, "{\"tagk\":", tag.filter.key);
    append_text(to, ",\"filter\":", tag.filter.pattern);
    fmt::format_to(std::back_inserter(to), ",\"group_by\":{}", tag.group_by);
    append_text(to, ",\"type\":", storage::filter_type_name(tag.filter.type));
    to += '}';
  });
  fmt::format_to(std::back_inserter(to), ",\"explicitTags\":{}}}", filter.explicit_tags);
}

void append_metric(std::string& to, const query::ExpMetric& metric) {
  append_text(to, "{\"metric\":", metric.metric);
  append_text(to, ",\"id\":", metric.id);
  append_text(to, ",\"filter\":", metric.filter);
  append_text(to, ",\"aggregator\":", metric.aggregator);
  append_text(to, ",\"timeOffset\":", metric.time_offset);
  append_fill(to, metric.fill);
  to += '}';
}

void append_expression(std::string& to, const query::ExpExpression& expression) {
  append_text(to, "{\"id\":", expression.id);
  append_text(to, ",\"expr\":", expression.text);
  const bool is_union = expression.join.op == query::JoinOperator::kUnion;
  fmt::format_to(std::back_inserter(to),
                 ",\"join\":{{\"operator\":\"{}\",\"useQueryTags\":{},\"includeAggTags\":{}}}",
                 is_union ? "union" : "intersection", expression.join.use_query_tags,
                 expression.join.include_agg_tags);
  append_fill(to, expression.fill);
  to += '}';
}

}  // namespace

void append_exp_echo(std::string& to, const query::ExpQuestion& question) {
  append_text(to, "{\"name\":", question.name);
  append_time(to, question.time);
  append_list(to, ",\"filters\":", question.filters,
              [&to](const auto& filter) { append_filter(to, filter); });
  to += ",\"metrics\":";
  append_json_list(to, question.metrics, [&to](const auto& metric) { append_metric(to, metric); });
  append_list(to, ",\"expressions\":", question.expressions,
              [&to](const auto& expression) { append_expression(to, expression); });
  append_list(to, ",\"outputs\":", question.outputs, [&to](const query::ExpOutput& output) {
    append_text(to, "{\"id\":", output.id);
    append_text(to, ",\"alias\":", output.alias);
    to += '}';
  });
  to += '}';
}

}  // namespace halite::web
