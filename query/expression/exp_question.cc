// Reads the JSON of /api/query/exp. Ignores unknown fields, and converts between texts and numbers
// as /api/query does.
#include "query/expression/exp_question.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "common/json/json_fault.h"
#include "query/expression/exp_check.h"
#include "query/parse/filter_text.h"
#include "query/parse/json_text.h"
#include "query/parse/refuse.h"

namespace halite::query {
namespace {

using simdjson::dom::element;

// OpenTSDB answers 500 with a message of its JSON library.
std::unexpected<Error> refuse_type(std::string_view field, std::string_view wanted) {
  return refuse_as_internal(fmt::format("bad value of \"{}\": expected {}", field, wanted));
}

Result<std::string> read_text(std::string_view field, element value) {
  std::optional<std::string> text = json_text(value);
  if (!text) return refuse_type(field, "a string");
  return *std::move(text);
}

Result<bool> read_bool(std::string_view field, element value) {
  if (value.is_null()) return false;
  bool flag = false;
  if (value.get_bool().get(flag) == simdjson::SUCCESS) return flag;
  TRY(const std::string text, read_text(field, value));
  if (text == "true" || text == "1") return true;
  if (text.empty() || text == "false" || text == "0") return false;
  return refuse_type(field, "true or false");
}

Result<double> read_number(std::string_view field, element value) {
  double number = 0;
  if (value.get_double().get(number) == simdjson::SUCCESS) return number;
  if (value.is_null()) return 0.0;
  TRY(const std::string text, read_text(field, value));
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return refuse_type(field, "a number");
}

// Reads every element of an array of objects; none for null.
template <class T, class Read>
Result<std::optional<std::vector<T>>> read_list(std::string_view field, element value, Read read) {
  std::optional<std::vector<T>> items;
  if (value.is_null()) return items;
  if (!value.is_array()) return refuse_type(field, "an array of objects");
  items.emplace();
  for (const element item : items_of(value)) {
    if (!item.is_object()) return refuse_type(field, "an array of objects");
    TRY(T one, read(item));
    items->push_back(std::move(one));
  }
  return items;
}

Result<std::optional<NumericFill>> read_fill(std::string_view field, element value) {
  std::optional<NumericFill> fill;
  if (value.is_null()) return fill;
  if (!value.is_object()) return refuse_type(field, "an object");
  fill.emplace();
  std::string policy;
  for (const auto [name, part] : fields_of(value)) {
    if (name == "policy") {
      TRY(policy, read_text(name, part));
    } else if (name == "value") {
      TRY(fill->value, read_number(name, part));
    }
  }
  if (policy.empty()) {
    policy = std::isnan(fill->value) ? "nan" : fill->value == 0 ? "zero" : "scalar";
  }
  if (policy == "zero") {
    *fill = {.policy = FillPolicy::kZero, .value = 0};
  } else if (policy == "scalar") {
    fill->policy = FillPolicy::kScalar;
  } else if (policy == "nan" || policy == "null" || policy == "none") {
    fill->policy = policy == "nan"    ? FillPolicy::kNan
                   : policy == "null" ? FillPolicy::kNull
                                      : FillPolicy::kNone;
    fill->value = std::numeric_limits<double>::quiet_NaN();
  } else {
    return refuse_as_internal(fmt::format("Unrecognized fill policy: {}", policy));
  }
  return fill;
}

Result<std::optional<ExpTime::Downsampler>> read_downsampler(element value) {
  std::optional<ExpTime::Downsampler> downsampler;
  if (value.is_null()) return downsampler;
  if (!value.is_object()) return refuse_type("downsampler", "an object");
  downsampler.emplace();
  for (const auto [name, part] : fields_of(value)) {
    if (name == "interval") {
      TRY(downsampler->interval, read_text(name, part));
    } else if (name == "aggregator") {
      TRY(downsampler->aggregator, read_text(name, part));
    } else if (name == "fillPolicy") {
      TRY(downsampler->fill, read_fill(name, part));
    }
  }
  return downsampler;
}

Result<ExpTime> read_time(element value) {
  if (!value.is_object()) return refuse_type("time", "an object");
  ExpTime time;
  for (const auto [name, part] : fields_of(value)) {
    if (name == "start") {
      TRY(time.start, read_text(name, part));
    } else if (name == "end") {
      TRY(time.end, read_text(name, part));
    } else if (name == "timezone") {
      TRY(time.timezone, read_text(name, part));
    } else if (name == "aggregator") {
      TRY(time.aggregator, read_text(name, part));
    } else if (name == "downsampler") {
      TRY(time.downsampler, read_downsampler(part));
    } else if (name == "rate") {
      TRY(time.rate, read_bool(name, part));
    }
  }
  return time;
}

Result<Filter> read_tag(element value, const ParseContext& context) {
  std::string type;
  std::string key;
  std::string pattern;
  bool group_by = false;
  for (const auto [name, part] : fields_of(value)) {
    if (name == "type") {
      TRY(type, read_text(name, part));
    } else if (name == "tagk") {
      TRY(key, read_text(name, part));
    } else if (name == "filter") {
      TRY(pattern, read_text(name, part));
    } else if (name == "groupBy" || name == "group_by") {
      TRY(group_by, read_bool(name, part));
    }
  }
  auto filter = make_filter(type, key, pattern, group_by, context.regexps);
  // An invalid regular expression is the client's mistake; OpenTSDB reports all else as internal.
  if (!filter && (type != "regexp" || pattern.empty())) {
    return refuse_as_internal(filter.error().message);
  }
  return filter;
}

Result<ExpFilter> read_filter(element value, const ParseContext& context) {
  ExpFilter filter;
  for (const auto [name, part] : fields_of(value)) {
    if (name == "id") {
      TRY(filter.id, read_text(name, part));
    } else if (name == "explicitTags") {
      TRY(filter.explicit_tags, read_bool(name, part));
    } else if (name == "tags") {
      const auto read = [&context](element tag) { return read_tag(tag, context); };
      TRY(auto tags, read_list<Filter>(name, part, read));
      if (tags) filter.tags = *std::move(tags);
    }
  }
  return filter;
}

Result<ExpMetric> read_metric(element value) {
  ExpMetric metric;
  for (const auto [name, part] : fields_of(value)) {
    if (name == "id") {
      TRY(metric.id, read_text(name, part));
    } else if (name == "metric") {
      TRY(metric.metric, read_text(name, part));
    } else if (name == "filter") {
      TRY(metric.filter, read_text(name, part));
    } else if (name == "aggregator") {
      TRY(metric.aggregator, read_text(name, part));
    } else if (name == "timeOffset") {
      TRY(metric.time_offset, read_text(name, part));
    } else if (name == "fillPolicy") {
      TRY(metric.fill, read_fill(name, part));
    }
  }
  return metric;
}

Result<JoinSpec> read_join(element value) {
  JoinSpec join;
  if (value.is_null()) return join;
  if (!value.is_object()) return refuse_type("join", "an object");
  for (const auto [name, part] : fields_of(value)) {
    if (name == "operator") {
      TRY(const std::string op, read_text(name, part));
      if (op != "union" && op != "intersection") {
        return refuse_as_internal(fmt::format("Unrecognized set operator: {}", op));
      }
      join.op = op == "union" ? JoinOperator::kUnion : JoinOperator::kIntersection;
    } else if (name == "useQueryTags") {
      TRY(join.use_query_tags, read_bool(name, part));
    } else if (name == "includeAggTags") {
      TRY(join.include_agg_tags, read_bool(name, part));
    }
  }
  return join;
}

Result<ExpExpression> read_expression(element value) {
  ExpExpression expression;
  for (const auto [name, part] : fields_of(value)) {
    if (name == "id") {
      TRY(expression.id, read_text(name, part));
    } else if (name == "expr") {
      TRY(expression.text, read_text(name, part));
    } else if (name == "join") {
      TRY(expression.join, read_join(part));
    } else if (name == "fillPolicy") {
      TRY(expression.fill, read_fill(name, part));
    }
  }
  return expression;
}

Result<ExpOutput> read_output(element value) {
  ExpOutput output;
  for (const auto [name, part] : fields_of(value)) {
    if (name == "id") {
      TRY(output.id, read_text(name, part));
    } else if (name == "alias") {
      TRY(output.alias, read_text(name, part));
    }
  }
  return output;
}

Result<ExpQuestion> read_question(element root, const ParseContext& context) {
  if (!root.is_object()) return refuse_as_internal("expected an object");
  ExpQuestion question;
  bool time_given = false;
  for (const auto [name, part] : fields_of(root)) {
    if (name == "name") {
      TRY(question.name, read_text(name, part));
    } else if (name == "time") {
      time_given = !part.is_null();
      if (!time_given) continue;
      TRY(question.time, read_time(part));
    } else if (name == "filters") {
      const auto read = [&context](element filter) { return read_filter(filter, context); };
      TRY(question.filters, read_list<ExpFilter>(name, part, read));
    } else if (name == "metrics") {
      TRY(auto metrics, read_list<ExpMetric>(name, part, read_metric));
      question.metrics = metrics ? *std::move(metrics) : std::vector<ExpMetric>();
    } else if (name == "expressions") {
      TRY(question.expressions, read_list<ExpExpression>(name, part, read_expression));
    } else if (name == "outputs") {
      TRY(question.outputs, read_list<ExpOutput>(name, part, read_output));
    }
  }
  if (!time_given) return refuse_as_internal("missing time");
  return question;
}

}  // namespace

Result<ExpQuestion> parse_exp_question(std::string_view body, const ParseContext& context,
                                       const ExpLimits& limits) {
  if (body.empty()) return refuse_as_internal("Incoming data was null or empty");
  simdjson::dom::parser parser;
  element root;
  if (const auto error = parse_body(parser, body, context.json_depth_max).get(root)) {
    return refuse_as_internal(json_fault(error));
  }
  TRY(ExpQuestion question, read_question(root, context));
  TRY_VOID(check_exp_question(question, context, limits));
  return question;
}

}  // namespace halite::query
