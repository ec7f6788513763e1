#include "query/parse/question_check.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/bytes.h"
#include "common/java/java_double.h"
#include "query/parse/aggregator.h"
#include "query/parse/downsample_spec.h"
#include "query/parse/refuse.h"
#include "query/parse/text.h"
#include "query/parse/time.h"

namespace halite::query {
namespace {

// The query as text, for the details of an error.
std::string describe(const DraftQuestion& draft) {
  std::string text = fmt::format("start={} end={}", draft.start, draft.end);
  if (!draft.flags.timezone.empty()) text += " timezone=" + draft.flags.timezone;
  for (const DraftSubQuestion& sub : draft.queries) {
    text += fmt::format(" query=({}", sub.question.aggregator);
    if (!sub.downsample.empty()) text += ":" + sub.downsample;
    if (sub.question.rate) text += ":rate";
    text += fmt::format(":{})", sub.tsuids.empty() ? sub.question.metric
                                                   : fmt::format("{}", fmt::join(sub.tsuids, ",")));
  }
  return text;
}

Result<TimestampMs> read_end(const DraftQuestion& draft, const ParseContext& context) {
  if (draft.end.empty()) return context.now;
  return parse_time(draft.end, context);
}

// Times as in OpenTSDB: both ends included.
struct Times {
  TimestampMs start = 0;
  TimestampMs end = 0;
};

Result<Times> read_times(const DraftQuestion& draft, ParseContext context) {
  if (draft.dates_in_timezone && !draft.flags.timezone.empty()) {
    context.timezone = draft.flags.timezone;
  }
  if (draft.start.empty()) return refuse("Missing start time");
  TRY(const TimestampMs start, parse_time(draft.start, context));
  TRY(const TimestampMs end, read_end(draft, context));
  if (end <= start) {
    return refuse(
        fmt::format("End time [{}] must be greater than the start time [{}]", end, start));
  }
  return Times{.start = start, .end = end};
}

Result<void> read_tsuids(const DraftSubQuestion& draft, std::size_t metric_width,
                         SubQuestion& into) {
  into.tsuid_texts = draft.tsuids;
  std::string first_metric;
  for (const std::string& text : draft.tsuids) {
    if (text.size() < metric_width * 2) {
      return fail(Errc::kInternal,
                  fmt::format("begin 0, end {}, length {}", metric_width * 2, text.size()),
                  fmt::format("bad TSUID \"{}\": expected at least {} hexadecimal digits, found {}",
                              text, metric_width * 2, text.size()));
    }
    const std::string padded = text.size() % 2 == 0 ? text : "0" + text;
    auto tsuid = from_hex(padded);
    if (!tsuid) return refuse(fmt::format("bad TSUID \"{}\": not hexadecimal", text));
    const std::string metric = to_hex(BytesView(*tsuid).substr(0, metric_width));
    if (first_metric.empty()) first_metric = metric;
    if (metric != first_metric) {
      return fail(Errc::kInternal,
                  fmt::format("One or more TSUIDs did not share the same metric [{}] [{}]",
                              first_metric, metric));
    }
    into.tsuids.push_back(*std::move(tsuid));
  }
  return {};
}

Result<void> check_aggregator(const std::string& name) {
  if (name.empty()) return refuse("Missing the aggregation function");
  if (find_aggregator(name) == nullptr) {
    return refuse(fmt::format("No such aggregation function: {}", name));
  }
  return {};
}

Result<void> read_downsample(const DraftQuestion& draft, const DraftSubQuestion& sub,
                             SubQuestion& into) {
  if (sub.downsample.empty()) return {};
  TRY(DownsampleSpec spec, parse_downsample(sub.downsample));
  const std::string& timezone = draft.flags.timezone;
  if (!timezone.empty() && !find_time_zone(timezone)) {
    return refuse("The timezone specification could not be found");
  }
  if (draft.use_calendar && !spec.all) spec.calendar = true;
  if (spec.calendar && spec.interval <= 0) {
    return refuse(fmt::format("Invalid duration (number): {}", sub.downsample));
  }
  into.downsample = std::move(spec);
  return {};
}

Result<void> check_histogram(const SubQuestion& sub) {
  if (!sub.wants_histograms()) return {};
  if (sub.aggregator != "none" && sub.aggregator != "sum") {
    return refuse("Only NONE or SUM aggregation function supported for histogram query");
  }
  if (sub.downsample && sub.downsample->function != "sum") {
    return refuse("Only SUM downsampling aggregation supported for histogram query");
  }
  for (const float percentile : sub.percentiles) {
    if (percentile >= 0 && percentile <= 100) continue;
    return refuse(fmt::format("Invalid percentile parameters: {}", java_double(percentile)));
  }
  return {};
}

// OpenTSDB resolves every literal. As in Java's split, empty ones at the end are dropped.
Result<void> check_literals(const SubQuestion& sub, const ParseContext& context) {
  for (const Filter& filter : sub.filters) {
    if (filter.filter.type != storage::FilterType::kLiteralOr) continue;
    const std::vector<std::string_view> literals = split_trimmed(filter.filter.pattern, '|');
    if (std::ranges::find(literals, "") == literals.end()) continue;
    const std::string words = "Missing UID name";
    if (context.opentsdb_words) return fail(Errc::kInvalidArgument, words, words);
    return refuse(fmt::format("{}: expected values between the pipes, found \"{}\" for {}", words,
                              filter.filter.pattern, filter.filter.key));
  }
  return {};
}

Result<SubQuestion> check_sub_question(const DraftQuestion& draft, const DraftSubQuestion& sub) {
  SubQuestion checked = sub.question;
  TRY_VOID(check_aggregator(checked.aggregator));
  if (checked.metric.empty() && sub.tsuids.empty()) {
    return refuse("Missing the metric or tsuids, provide at least one");
  }
  TRY_VOID(read_downsample(draft, sub, checked));
  TRY_VOID(check_histogram(checked));
  return checked;
}

Result<Question> check_all(const DraftQuestion& draft, const ParseContext& context) {
  TRY(const Times times, read_times(draft, context));
  if (draft.queries.empty()) return refuse("Missing queries");
  Question question = draft.flags;
  for (const DraftSubQuestion& sub : draft.queries) {
    TRY(SubQuestion checked, check_sub_question(draft, sub));
    question.queries.push_back(std::move(checked));
  }
  question.begin = times.start;
  question.end = times.end;  // still included here
  return question;
}

}  // namespace

RollupUsage parse_rollup_usage(std::string_view text) {
  const std::string lower = to_lower(text);
  if (lower == "rollup_raw") return RollupUsage::kRaw;
  if (lower == "rollup_fallback") return RollupUsage::kFallback;
  if (lower == "rollup_fallback_raw") return RollupUsage::kFallbackRaw;
  return RollupUsage::kNoFallback;
}

Result<void> add_sub_question(DraftQuestion& draft, DraftSubQuestion sub,
                              const ParseContext& context) {
  if (draft.queries.size() >= context.sub_queries_max) {
    return fail(
        Errc::kTooLarge,
        fmt::format(
            "The query has more than {} sub-queries; split it or raise query.sub_queries_max",
            context.sub_queries_max));
  }
  draft.queries.push_back(std::move(sub));
  return {};
}

Result<Question> check_question(DraftQuestion draft, const ParseContext& context) {
  std::vector<DraftSubQuestion> unique;
  for (DraftSubQuestion& sub : draft.queries) {
    if (std::ranges::count(unique, sub) == 0) unique.push_back(std::move(sub));
  }
  draft.queries = std::move(unique);

  auto question = check_all(draft, context);
  if (!question) {
    Error error = std::move(question).error();
    if (error.code == Errc::kInvalidArgument) error.details = describe(draft);
    return std::unexpected(std::move(error));
  }
  // OpenTSDB finds these only when it runs the query, and answers 500.
  for (const TimestampMs time : {question->begin, question->end}) {
    if (time < 0 || time >= kTimeEnd) {
      return fail(
          Errc::kInternal, fmt::format("Invalid timestamp: {}", time),
          fmt::format("Invalid timestamp: {}: expected milliseconds since 1970, less than {}", time,
                      kTimeEnd));
    }
  }
  ++question->end;
  for (std::size_t i = 0; i < draft.queries.size(); ++i) {
    TRY_VOID(read_tsuids(draft.queries[i], context.metric_width, question->queries[i]));
    TRY_VOID(check_literals(question->queries[i], context));
  }
  return question;
}

}  // namespace halite::query
