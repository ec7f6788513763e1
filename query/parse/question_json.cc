// The POST body of /api/query. Converts types as OpenTSDB's JSON library does: numbers and booleans
// to texts, texts to numbers and booleans. Ignores unknown fields, except in rateOptions. An empty
// array counts as an empty object, because PHP writes it so.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "common/bytes/read_number.h"
#include "common/json/json_fault.h"
#include "query/parse/filter_text.h"
#include "query/parse/json_text.h"
#include "query/parse/parse_context.h"
#include "query/parse/question_check.h"
#include "query/parse/question_parse.h"
#include "query/question.h"

namespace halite::query {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// The message for all errors in the body; the details contain the reason.
std::unexpected<Error> refuse_json(std::string why) {
  return fail(Errc::kInvalidArgument, "Unable to parse the given JSON", std::move(why));
}

std::unexpected<Error> refuse_type(std::string_view field, std::string_view wanted) {
  return refuse_json(fmt::format("bad value of \"{}\": expected {}", field, wanted));
}

Result<std::string> read_text(std::string_view field, element value) {
  std::optional<std::string> text = json_text(value);
  if (!text) return refuse_type(field, "a string");
  return *std::move(text);
}

Result<bool> read_bool(std::string_view field, element value) {
  switch (value.type()) {
    case element_type::NULL_VALUE:
      return false;
    case element_type::BOOL:
      return value.get_bool().value_unsafe();
    case element_type::INT64:
      return value.get_int64().value_unsafe() != 0;
    case element_type::UINT64:
      return true;
    case element_type::STRING: {
      const std::string_view text = value.get_string().value_unsafe();
      if (text == "true" || text == "True" || text == "TRUE") return true;
      if (text.empty() || text == "false" || text == "False" || text == "FALSE") return false;
      break;
    }
    default:
      break;
  }
  return refuse_type(field, "true or false");
}

Result<std::int64_t> truncated(std::string_view field, double value) {
  if (!(value >= -0x1p63 && value < 0x1p63)) return refuse_type(field, "a 64-bit integer");
  return static_cast<std::int64_t>(value);
}

Result<std::int64_t> read_integer(std::string_view field, element value) {
  switch (value.type()) {
    case element_type::NULL_VALUE:
      return 0;
    case element_type::INT64:
      return value.get_int64().value_unsafe();
    case element_type::DOUBLE:
      return truncated(field, value.get_double().value_unsafe());
    case element_type::STRING: {
      const std::string_view text = value.get_string().value_unsafe();
      if (text.empty()) return 0;
      std::int64_t integer = 0;
      if (read_number(text, integer)) return integer;
      break;
    }
    default:
      break;
  }
  return refuse_type(field, "a 64-bit integer");
}

Result<std::vector<std::string>> read_texts(std::string_view field, element value) {
  std::vector<std::string> texts;
  if (value.is_null()) return texts;
  if (!value.is_array()) return refuse_type(field, "an array");
  for (const element item : items_of(value)) {
    TRY(std::string text, read_text(field, item));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<float>> read_floats(std::string_view field, element value) {
  std::vector<float> numbers;
  if (value.is_null()) return numbers;
  if (!value.is_array()) return refuse_type(field, "an array of numbers");
  for (const element item : items_of(value)) {
    double number = 0;
    if (item.get_double().get(number) != simdjson::SUCCESS) {
      return refuse_type(field, "an array of numbers");
    }
    numbers.push_back(static_cast<float>(number));
  }
  return numbers;
}

bool is_empty_array(element value) { return value.is_array() && items_of(value).size() == 0; }

Result<Filter> read_json_filter(element value, const ParseContext& context) {
  if (!value.is_object()) return refuse_type("filters", "an array of objects");
  std::string type;
  std::string key;
  std::string pattern;
  bool group_by = false;
  for (const auto [name, field] : fields_of(value)) {
    if (name == "type") {
      TRY(type, read_text(name, field));
    } else if (name == "tagk") {
      TRY(key, read_text(name, field));
    } else if (name == "filter") {
      TRY(pattern, read_text(name, field));
    } else if (name == "groupBy" || name == "group_by") {
      TRY(group_by, read_bool(name, field));
    }
  }
  auto filter = make_filter(type, key, pattern, group_by, context.regexps);
  if (!filter) return refuse_json(std::move(filter).error().message);
  return filter;
}

Result<std::vector<Filter>> read_json_filters(element value, const ParseContext& context) {
  std::vector<Filter> filters;
  if (value.is_null()) return filters;
  if (!value.is_array()) return refuse_type("filters", "an array of objects");
  for (const element item : items_of(value)) {
    TRY(Filter filter, read_json_filter(item, context));
    filters.push_back(std::move(filter));
  }
  return filters;
}

Result<std::vector<Filter>> read_tags(element value, const ParseContext& context) {
  std::vector<Filter> filters;
  if (value.is_null() || is_empty_array(value)) return filters;
  if (!value.is_object()) return refuse_type("tags", "an object");
  for (const auto [key, field] : fields_of(value)) {
    TRY(const std::string text, read_text(key, field));
    auto filter = filter_from_value(key, text, true, context.regexps);
    if (!filter) return refuse_json(std::move(filter).error().message);
    add_group_by(*std::move(filter), filters);
  }
  return filters;
}

Result<RateSpec> read_rate_options(element value) {
  RateSpec rate;
  if (value.is_null()) return rate;
  rate.options_given = true;
  if (is_empty_array(value)) return rate;
  if (!value.is_object()) return refuse_type("rateOptions", "an object");
  for (const auto [name, field] : fields_of(value)) {
    if (name == "counter" || name == "isCounter") {
      TRY(rate.counter, read_bool(name, field));
    } else if (name == "counterMax") {
      TRY(rate.counter_max, read_integer(name, field));
    } else if (name == "resetValue") {
      TRY(rate.reset_value, read_integer(name, field));
    } else if (name == "dropResets") {
      TRY(rate.drop_resets, read_bool(name, field));
    } else {
      return refuse_json(fmt::format("Unrecognized field \"{}\" in rateOptions", name));
    }
  }
  return rate;
}

Result<DraftSubQuestion> read_json_sub_question(element value, const ParseContext& context) {
  if (!value.is_object()) return refuse_type("queries", "an array of objects");
  DraftSubQuestion sub;
  bool rate = false;
  RateSpec options;
  for (const auto [name, field] : fields_of(value)) {
    if (name == "aggregator") {
      TRY(sub.question.aggregator, read_text(name, field));
    } else if (name == "metric") {
      TRY(sub.question.metric, read_text(name, field));
    } else if (name == "tsuids") {
      TRY(sub.tsuids, read_texts(name, field));
    } else if (name == "downsample") {
      TRY(sub.downsample, read_text(name, field));
    } else if (name == "rate") {
      TRY(rate, read_bool(name, field));
    } else if (name == "rateOptions") {
      TRY(options, read_rate_options(field));
    } else if (name == "tags") {
      TRY(sub.question.filters, read_tags(field, context));
    } else if (name == "filters") {
      TRY(sub.question.filters, read_json_filters(field, context));
    } else if (name == "explicitTags") {
      TRY(sub.question.explicit_tags, read_bool(name, field));
    } else if (name == "percentiles") {
      TRY(sub.question.percentiles, read_floats(name, field));
    } else if (name == "showHistogramBuckets") {
      TRY(sub.question.show_histogram_buckets, read_bool(name, field));
    } else if (name == "useFuzzyFilter") {
      TRY(sub.question.use_fuzzy_filter, read_bool(name, field));
    } else if (name == "useMultiGets") {
      TRY(sub.question.use_multi_gets, read_bool(name, field));
    } else if (name == "preAggregate") {
      TRY(sub.question.pre_aggregate, read_bool(name, field));
    } else if (name == "rollupUsage") {
      TRY(const std::string usage, read_text(name, field));
      sub.question.rollup_usage =
          field.is_null() ? std::nullopt : std::optional(parse_rollup_usage(usage));
    }
  }
  if (options.options_given) sub.question.rate_options = options;
  if (rate) sub.question.rate = options;
  return sub;
}

// true, false or "approximate".
Result<void> read_use_views(element field, Question& flags) {
  flags.approximate_views = field.is_string() && json_text(field) == "approximate";
  flags.use_views = true;
  if (flags.approximate_views) return {};
  const Result<bool> use = read_bool("useViews", field);
  if (!use) return refuse_type("useViews", "true, false or \"approximate\"");
  flags.use_views = *use;
  return {};
}

Result<void> read_flag(std::string_view name, element field, DraftQuestion& draft) {
  Question& flags = draft.flags;
  if (name == "useViews") return read_use_views(field, flags);
  bool* const flag = name == "useCalendar"              ? &draft.use_calendar
                     : name == "noAnnotations"          ? &flags.no_annotations
                     : name == "globalAnnotations"      ? &flags.global_annotations
                     : name == "showTSUIDs"             ? &flags.show_tsuids
                     : name == "msResolution"           ? &flags.ms_resolution
                     : name == "showQuery"              ? &flags.show_query
                     : name == "showStats"              ? &flags.show_stats
                     : name == "showSummary"            ? &flags.show_summary
                     : name == "delete"                 ? &flags.delete_points
                     : name == "overrideByteLimit"      ? &flags.override_byte_limit
                     : name == "overrideDataPointLimit" ? &flags.override_point_limit
                                                        : nullptr;
  if (flag == nullptr) return {};
  TRY(*flag, read_bool(name, field));
  return {};
}

Result<DraftQuestion> read_question(element root, const ParseContext& context) {
  // OpenTSDB's message, with status 500, if there are no queries.
  const auto no_queries = fail(Errc::kInternal, "An internal null pointer exception was thrown",
                               "Missing \"queries\": expected an array of objects");
  if (root.is_null()) return no_queries;
  if (!root.is_object()) return refuse_json("expected an object");
  DraftQuestion draft;
  bool queries_given = false;
  for (const auto [name, field] : fields_of(root)) {
    if (name == "start") {
      TRY(draft.start, read_text(name, field));
    } else if (name == "end") {
      TRY(draft.end, read_text(name, field));
    } else if (name == "timezone") {
      TRY(draft.flags.timezone, read_text(name, field));
    } else if (name == "queries") {
      draft.queries.clear();
      queries_given = !field.is_null();
      if (!queries_given) continue;
      if (!field.is_array()) return refuse_type(name, "an array of objects");
      for (const element item : items_of(field)) {
        TRY(DraftSubQuestion sub, read_json_sub_question(item, context));
        TRY_VOID(add_sub_question(draft, std::move(sub), context));
      }
    } else {
      TRY_VOID(read_flag(name, field, draft));
    }
  }
  if (!queries_given) return no_queries;
  return draft;
}

}  // namespace

Result<Question> parse_question_json(std::string_view body, const Parameters& parameters,
                                     const ParseContext& context) {
  simdjson::dom::parser parser;
  element root;
  if (const auto error = parse_body(parser, body, context.json_depth_max).get(root)) {
    return refuse_json(json_fault(error));
  }
  TRY(DraftQuestion draft, read_question(root, context));
  // The URI parameters that apply with a body.
  for (const auto& [key, value] : parameters) {
    if (key == "arrays") draft.flags.arrays = true;
    if (key == "as_stored") draft.flags.as_stored = true;
  }
  return check_question(std::move(draft), context);
}

}  // namespace halite::query
