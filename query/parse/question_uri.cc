// m=<aggregator>:[<part>:]...<metric>[{tags}][{filters}] and tsuid=<aggregator>:[<part>:]...<ids>.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "query/parse/filter_text.h"
#include "query/parse/parse_context.h"
#include "query/parse/question_check.h"
#include "query/parse/question_parse.h"
#include "query/parse/refuse.h"
#include "query/parse/text.h"
#include "query/question.h"

namespace halite::query {
namespace {

// An error for which OpenTSDB answers 500 with `words`.
std::unexpected<Error> mistake(std::string words, std::string reason) {
  return fail(Errc::kInternal, std::move(words), std::move(reason));
}

// The last value of a parameter that may be repeated.
const std::string* last_value(const Parameters& parameters, std::string_view name) {
  const std::string* found = nullptr;
  for (const auto& [key, value] : parameters) {
    if (key == name) found = &value;
  }
  return found;
}

bool has(const Parameters& parameters, std::string_view name) {
  return last_value(parameters, name) != nullptr;
}

// As Java's Long.parseLong.
std::optional<std::int64_t> parse_long(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t value = 0;
  if (!read_number(text, value)) return std::nullopt;
  return value;
}

// "rate", "rate{counter}", "rate{counter,<max>,<reset>}", "rate{dropcounter,...}".
Result<RateSpec> parse_rate(std::string_view part) {
  RateSpec rate;
  if (!part.contains('{')) return rate;
  rate.options_given = true;
  if (part.size() < 6) {
    return refuse(fmt::format("Invalid rate options specification: {}", part));
  }
  const auto options = split_all(part.substr(5, part.size() - 6), ',');
  if (options.size() > 3) {
    return refuse(fmt::format(
        "Incorrect number of values in rate options specification, must be counter[,counter max "
        "value,reset value], recieved: {} parts",
        options.size()));
  }
  rate.counter = options[0].ends_with("counter");
  rate.drop_resets = options[0] == "dropcounter";
  if (options.size() >= 2 && !options[1].empty()) {
    const auto max = parse_long(options[1]);
    if (!max) {
      return refuse(
          fmt::format("Max value of counter was not a number, received '{}'", options[1]));
    }
    rate.counter_max = *max;
  }
  if (options.size() >= 3 && !options[2].empty()) {
    const auto reset = parse_long(options[2]);
    if (!reset) {
      return refuse(
          fmt::format("Reset value of counter was not a number, received '{}'", options[2]));
    }
    rate.reset_value = *reset;
  }
  return rate;
}

// "percentiles[98,99.9]".
Result<std::vector<float>> parse_percentiles(std::string_view part) {
  const std::size_t open = part.find('[');
  const std::size_t close = part.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return refuse(fmt::format("Malformated percentile query paramater: {}", part));
  }
  std::vector<float> percentiles;
  for (const auto text : split_all(part.substr(open + 1, close - open - 1), ',')) {
    float percentile = 0;
    if (!read_number(text, percentile)) {
      return mistake(text.empty() ? "empty String" : fmt::format("For input string: \"{}\"", text),
                     fmt::format("bad percentile \"{}\" in {}: expected a number", text, part));
    }
    percentiles.push_back(percentile);
  }
  return percentiles;
}

// Reads a part between the aggregator and the metric. Ignores unknown parts.
Result<void> read_sub_question_part(std::string_view part, DraftSubQuestion& sub) {
  const std::string lower = to_lower(part);
  if (part.empty()) {
    return mistake(
        "String index out of range: 0",
        "expected a downsampler, a rate or another part of m= between two colons, found nothing");
  }
  if (lower.starts_with("rate")) {
    TRY(sub.question.rate, parse_rate(part));
    if (sub.question.rate->options_given) sub.question.rate_options = sub.question.rate;
  } else if (is_digit(part.front())) {
    sub.downsample = part;
  } else if (lower == "pre-agg") {
    sub.question.pre_aggregate = true;
  } else if (lower.starts_with("rollup_")) {
    sub.question.rollup_usage = parse_rollup_usage(part);
  } else if (lower.starts_with("percentiles")) {
    TRY(sub.question.percentiles, parse_percentiles(part));
  } else if (lower.starts_with("show-histogram-buckets")) {
    sub.question.show_histogram_buckets = true;
  } else if (lower.starts_with("explicit_tags")) {
    sub.question.explicit_tags = true;
  }
  return {};
}

Result<DraftSubQuestion> read_uri_sub_question(std::string_view text, bool by_tsuid,
                                               const ParseContext& context) {
  if (text.empty()) return refuse("The query string was empty");
  const auto parts = split_outside(text, ':');
  if (parts.size() < 2 || parts.size() > 5) {
    return refuse(fmt::format("Invalid parameter m={} ({} :-separated parts)", text,
                              parts.size() < 2 ? "not enough" : "too many"));
  }
  DraftSubQuestion sub;
  sub.question.aggregator = parts.front();
  if (by_tsuid) {
    for (const auto tsuid : split_trimmed(parts.back(), ',')) sub.tsuids.emplace_back(tsuid);
  } else {
    TRY(MetricAndFilters parsed, parse_metric(parts.back(), context.regexps));
    sub.question.metric = std::move(parsed.metric);
    sub.question.filters = std::move(parsed.filters);
  }
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    TRY_VOID(read_sub_question_part(parts[i], sub));
  }
  return sub;
}

}  // namespace

Result<Question> parse_question_uri(const Parameters& parameters, const ParseContext& context) {
  DraftQuestion draft;
  const std::string* start = last_value(parameters, "start");
  if (start == nullptr || start->empty()) {
    return refuse("Missing parameter <code>start</code>");
  }
  draft.start = *start;
  if (const std::string* end = last_value(parameters, "end")) draft.end = *end;

  Question& flags = draft.flags;
  if (const std::string* timezone = last_value(parameters, "timezone")) flags.timezone = *timezone;
  draft.dates_in_timezone = !context.opentsdb_words;
  flags.no_annotations = has(parameters, "no_annotations");
  flags.global_annotations = has(parameters, "global_annotations");
  flags.show_tsuids = has(parameters, "show_tsuids");
  flags.ms_resolution = has(parameters, "ms");
  flags.show_query = has(parameters, "show_query");
  flags.show_stats = has(parameters, "show_stats");
  flags.show_summary = has(parameters, "show_summary");
  flags.use_views = !has(parameters, "no_views");
  flags.approximate_views = has(parameters, "approximate_views");
  flags.arrays = has(parameters, "arrays");

  for (const bool by_tsuid : {true, false}) {
    for (const auto& [key, value] : parameters) {
      if (key != (by_tsuid ? "tsuid" : "m")) continue;
      TRY(DraftSubQuestion sub, read_uri_sub_question(value, by_tsuid, context));
      TRY_VOID(add_sub_question(draft, std::move(sub), context));
    }
  }
  if (draft.queries.empty()) return refuse("Missing sub queries");
  return check_question(std::move(draft), context);
}

}  // namespace halite::query
