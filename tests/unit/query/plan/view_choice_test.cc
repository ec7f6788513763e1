#include "query/plan/view_choice.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/parse/parse_context.h"
#include "query/parse/question_parse.h"

namespace halite::query {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const storage::ViewRule kByDc = {.name = "by-dc",
                                 .metrics = "m",
                                 .interval_ms = 300'000,
                                 .functions = {.sum = true, .min = true, .max = true},
                                 .group_by = {{"dc", "rack"}}};

storage::ViewRule every_series(storage::ViewFunctions functions) {
  storage::ViewRule rule = kByDc;
  rule.functions = functions;
  rule.group_by.reset();
  return rule;
}

// Why the view does not answer a sub-query of a URI; `flags` are further parameters.
std::string reason(const storage::ViewRule& view, const std::string& sub, Parameters flags = {}) {
  flags.emplace_back("start", "1356998400");
  flags.emplace_back("m", sub);
  ParseContext context;
  context.now = 1'400'000'000'000;
  const Result<Question> question = parse_question_uri(flags, context);
  if (!question) return "not parsed: " + question.error().message;
  return std::string(why_not(view, *question, question->queries.front()));
}

TEST(ViewChoice, AGroupedViewAnswersWhatAddsUp) {
  for (const char* const sub :
       {"zimsum:5m-sum:m", "zimsum:1h-count:m{dc=*}", "mimmin:1h-min:m{rack=a|b}",
        "mimmax:10m-max:m{dc=*}{rack=x}", "sum:1h-sum-zero:m", "sum:1h-sum-nan:m",
        "sum:1h-count-null:m", "min:1h-min-nan:m", "max:1h-max-null:m", "zimsum:1h-zimsum:m"}) {
    EXPECT_THAT(reason(kByDc, sub), IsEmpty()) << sub;
  }
}

TEST(ViewChoice, AGroupedViewHasNoSingleSeries) {
  for (const char* const sub :
       {"sum:1h-sum:m", "zimsum:1h-max:m", "mimmin:1h-sum:m", "min:1h-min-zero:m", "max:1h-max:m",
        "avg:1h-sum-nan:m", "count:1h-sum-nan:m", "none:1h-sum:m", "dev:1h-sum-nan:m"}) {
    EXPECT_THAT(reason(kByDc, sub), HasSubstr("needs values of single series")) << sub;
  }
  EXPECT_THAT(reason(kByDc, "zimsum:1h-avg:m"), HasSubstr("does not store"));
  EXPECT_THAT(reason(kByDc, "zimsum:1h-sum:rate:m"), HasSubstr("a rate"));
  EXPECT_THAT(reason(kByDc, "zimsum:1h-sum:explicit_tags:m{dc=*}"), HasSubstr("explicitTags"));
  EXPECT_THAT(reason(kByDc, "zimsum:1h-sum:m", {{"show_tsuids", ""}}), HasSubstr("showTSUIDs"));
  EXPECT_THAT(reason(kByDc, "zimsum:1h-sum:m{host=a}"), HasSubstr("a tag of the filters"));
  EXPECT_THAT(reason(kByDc, "zimsum:1h-sum:m{}{host=not_literal_or(a)}"),
              HasSubstr("a tag of the filters"));
}

TEST(ViewChoice, AViewOfEachSeriesAnswersAnyAggregator) {
  const storage::ViewRule sums = every_series({.sum = true, .min = false, .max = false});
  for (const char* const sub : {"sum:1h-sum:m", "avg:1h-avg:m{host=*}", "p99:1h-count:rate:m",
                                "none:1h-sum:explicit_tags:m{host=a}"}) {
    EXPECT_THAT(reason(sums, sub), IsEmpty()) << sub;
  }
  EXPECT_THAT(reason(sums, "max:1h-max:m"), HasSubstr("does not store"));
  EXPECT_THAT(reason(every_series({.sum = false, .min = true, .max = true}), "sum:1h-avg:m"),
              HasSubstr("does not store"));
}

TEST(ViewChoice, APercentileOfEachSeriesNeedsItsSketch) {
  const storage::ViewRule sketches =
      every_series({.sum = false, .min = false, .max = false, .sketch = true});
  for (const char* const sub :
       {"sum:1h-p99:m", "avg:5m-p50-zero:m{host=*}", "p99:1h-p999:rate:m", "max:1h-ep95r7:m"}) {
    EXPECT_THAT(reason(sketches, sub), IsEmpty()) << sub;
  }
  EXPECT_THAT(reason(sketches, "max:1h-median:m"), HasSubstr("does not store"));
  EXPECT_THAT(reason(sketches, "sum:1h-sum:m"), HasSubstr("does not store"));
  EXPECT_THAT(reason(sketches, "sum:1hc-p99:m"), HasSubstr("no fixed interval"));
  EXPECT_THAT(reason(every_series({.sum = true, .min = true, .max = true}), "sum:1h-p99:m"),
              HasSubstr("does not store"));
  storage::ViewRule by_dc = kByDc;
  by_dc.functions.sketch = true;
  EXPECT_THAT(reason(by_dc, "zimsum:1h-p99:m"),
              HasSubstr("the downsampler needs values of single"));
}

TEST(ViewChoice, PercentilesOfGroupsMergeSketches) {
  storage::ViewRule by_dc = kByDc;
  EXPECT_THAT(reason(by_dc, "sum:1h-sum:percentiles[99]:m"), HasSubstr("does not store"));
  by_dc.functions = {.sum = false, .min = false, .max = false, .sketch = true};
  for (const char* const sub :
       {"sum:1h-sum:percentiles[50,99.9]:m", "sum:5m-sum:percentiles[1]:m{dc=*}",
        "sum:5m-sum:percentiles[1]:m{dc=*}{rack=x}"}) {
    EXPECT_THAT(reason(by_dc, sub), IsEmpty()) << sub;
  }
  EXPECT_THAT(reason(by_dc, "sum:percentiles[99]:m"), HasSubstr("no downsampler"));
  EXPECT_THAT(reason(by_dc, "sum:7m-sum:percentiles[99]:m"), HasSubstr("no multiple"));
  EXPECT_THAT(reason(by_dc, "none:1h-sum:percentiles[99]:m"), HasSubstr("aggregator none"));
  EXPECT_THAT(reason(by_dc, "sum:1h-sum:percentiles[99]:m{host=a}"), HasSubstr("a tag of the"));
  EXPECT_THAT(reason(by_dc, "sum:1h-sum:percentiles[99]:m", {{"show_tsuids", ""}}),
              HasSubstr("showTSUIDs"));
  EXPECT_THAT(reason(by_dc, "sum:1h-sum:percentiles[99]:show-histogram-buckets:m"),
              HasSubstr("buckets of histograms"));
  const storage::ViewRule each =
      every_series({.sum = false, .min = false, .max = false, .sketch = true});
  for (const char* const sub : {"none:1h-sum:percentiles[99]:m{host=a}",
                                "sum:1h-sum:explicit_tags:percentiles[99]:m{host=*}"}) {
    EXPECT_THAT(reason(each, sub), IsEmpty()) << sub;
  }
}

TEST(ViewChoice, BucketsMustBeMadeOfThoseOfTheView) {
  EXPECT_THAT(reason(kByDc, "zimsum:7m-sum:m"), HasSubstr("no multiple"));
  EXPECT_THAT(reason(kByDc, "zimsum:1m-sum:m"), HasSubstr("no multiple"));
  EXPECT_THAT(reason(kByDc, "zimsum:1dc-sum:m"), HasSubstr("no fixed interval"));
  EXPECT_THAT(reason(kByDc, "zimsum:0all-sum:m"), HasSubstr("no fixed interval"));
  EXPECT_THAT(reason(kByDc, "zimsum:m"), HasSubstr("no downsampler"));
  EXPECT_THAT(reason(kByDc, "zimsum:1h-median:m"), HasSubstr("does not store"));
}

TEST(ViewChoice, AQueryCanAskForPoints) {
  EXPECT_THAT(reason(kByDc, "zimsum:1h-sum:m", {{"no_views", ""}}), HasSubstr("useViews"));
  EXPECT_THAT(reason(kByDc, "zimsum:1h-sum:rollup_raw:m"), HasSubstr("ROLLUP_RAW"));
}

}  // namespace
}  // namespace halite::query
