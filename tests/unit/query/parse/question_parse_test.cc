#include "query/parse/question_parse.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/parse/parse_context.h"
#include "query/question.h"

namespace halite::query {
namespace {

using storage::FilterType;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const ParseContext kContext = {.now = 1'400'000'000'000, .timezone = ""};

Result<Question> uri(Parameters parameters) { return parse_question_uri(parameters, kContext); }

Result<Question> uri_m(const std::string& m) {
  return uri({{"start", "1356998400"}, {"end", "1356999000"}, {"m", m}});
}

Result<Question> json(const std::string& body, const Parameters& parameters = {}) {
  return parse_question_json(body, parameters, kContext);
}

// A body of one sub-query with these fields besides aggregator and metric.
Result<Question> json_sub(const std::string& fields) {
  return json(
      R"({"start":1356998400,"end":1356999000,"queries":[{"aggregator":"sum","metric":"m")" +
      (fields.empty() ? "" : "," + fields) + "}]}");
}

std::string message(const Result<Question>& question) {
  return question ? "ok" : question.error().message;
}

Errc code(const Result<Question>& question) {
  return question ? Errc::kNotFound : question.error().code;
}

TEST(QuestionUri, Whole) {
  const auto question = uri(
      {{"start", "1356998400"},
       {"m", "sum:rate{counter,100,5}:1m-avg-nan:explicit_tags:m{host=*,dc=lga}{rack=regexp(^r)}"},
       {"ms", ""},
       {"arrays", "true"},
       {"show_tsuids", "false"},
       {"approximate_views", ""}});
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_EQ(question->begin, 1'356'998'400'000);
  EXPECT_EQ(question->end, kContext.now + 1);
  EXPECT_TRUE(question->ms_resolution);
  EXPECT_TRUE(question->arrays);
  EXPECT_TRUE(question->show_tsuids);
  EXPECT_TRUE(question->use_views);
  EXPECT_TRUE(question->approximate_views);
  EXPECT_FALSE(question->show_query);
  ASSERT_THAT(question->queries, SizeIs(1));
  const SubQuestion& sub = question->queries[0];
  EXPECT_EQ(sub.aggregator, "sum");
  EXPECT_EQ(sub.metric, "m");
  EXPECT_TRUE(sub.explicit_tags);
  ASSERT_TRUE(sub.rate);
  EXPECT_EQ(*sub.rate, (RateSpec{.counter = true,
                                 .counter_max = 100,
                                 .reset_value = 5,
                                 .drop_resets = false,
                                 .options_given = true}));
  ASSERT_TRUE(sub.downsample);
  EXPECT_EQ(sub.downsample->interval_ms, 60'000);
  EXPECT_EQ(sub.downsample->function, "avg");
  EXPECT_EQ(sub.downsample->fill, FillPolicy::kNan);
  EXPECT_THAT(sub.filters, ElementsAre(Filter{{FilterType::kRegexp, "rack", "^r"}, false},
                                       Filter{{FilterType::kWildcard, "host", "*"}, true},
                                       Filter{{FilterType::kLiteralOr, "dc", "lga"}, true}));
}

TEST(QuestionUri, PartsInAnyOrderAndUnknownOnesIgnored) {
  const auto question = uri_m("max:RATE{dropcounter,,7}:m-avg:10s-min:m");
  ASSERT_TRUE(question) << question.error().message;
  const SubQuestion& sub = question->queries[0];
  EXPECT_TRUE(sub.rate->counter);
  EXPECT_TRUE(sub.rate->drop_resets);
  EXPECT_EQ(sub.rate->counter_max, INT64_MAX);
  EXPECT_EQ(sub.rate->reset_value, 7);
  EXPECT_EQ(sub.downsample->text, "10s-min");
  EXPECT_FALSE(uri_m("max:rate{foo}:m")->queries[0].rate->counter);
  EXPECT_FALSE(uri_m("max:rate{}:m")->queries[0].rate->counter);
}

TEST(QuestionUri, FilterTexts) {
  const auto filter = [](const std::string& braces) {
    const auto question = uri_m("sum:m" + braces);
    return question ? question->queries[0].filters : std::vector<Filter>{};
  };
  EXPECT_THAT(filter("{host=web*}"),
              ElementsAre(Filter{{FilterType::kIWildcard, "host", "web*"}, true, true}));
  EXPECT_THAT(filter("{host=iwildcard(web*)}"),
              ElementsAre(Filter{{FilterType::kIWildcard, "host", "web*"}, true, false}));
  EXPECT_THAT(filter("{host=a|b}"),
              ElementsAre(Filter{{FilterType::kLiteralOr, "host", "a|b"}, true}));
  EXPECT_THAT(filter("{}{host=NOT_LITERAL_OR(a)}"),
              ElementsAre(Filter{{FilterType::kNotLiteralOr, "host", "a"}, false}));
  EXPECT_THAT(filter("{host=a}{host=a}"),
              ElementsAre(Filter{{FilterType::kLiteralOr, "host", "a"}, true}));
  EXPECT_THAT(filter("{host=a,host=b}"), SizeIs(2));
  EXPECT_THAT(filter("{}"), IsEmpty());
}

TEST(QuestionUri, SyntaxRefusals) {
  EXPECT_EQ(message(uri({{"m", "sum:m"}})), "Missing parameter <code>start</code>");
  EXPECT_EQ(message(uri({{"start", ""}, {"m", "sum:m"}})), "Missing parameter <code>start</code>");
  EXPECT_EQ(message(uri({{"start", "1"}})), "Missing sub queries");
  EXPECT_EQ(message(uri_m("")), "The query string was empty");
  EXPECT_EQ(message(uri_m("m")), "Invalid parameter m=m (not enough :-separated parts)");
  EXPECT_EQ(message(uri_m("a:b:c:d:e:f")),
            "Invalid parameter m=a:b:c:d:e:f (too many :-separated parts)");
  EXPECT_EQ(message(uri_m("sum:rate{:m")), "Invalid rate options specification: rate{");
  EXPECT_EQ(message(uri_m("sum:rate{a,b,c,d}:m")),
            "Incorrect number of values in rate options specification, must be counter[,counter "
            "max value,reset value], recieved: 4 parts");
  EXPECT_EQ(message(uri_m("sum:rate{counter,x}:m")),
            "Max value of counter was not a number, received 'x'");
  EXPECT_EQ(message(uri_m("sum:rate{counter,1,y}:m")),
            "Reset value of counter was not a number, received 'y'");
  EXPECT_EQ(code(uri_m("sum:rate{counter,x}:m")), Errc::kInvalidArgument);
}

TEST(QuestionUri, WhatOpentsdbAnswersWith500) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"sum:", "Metric cannot be null or empty"},
      {":", "Metric cannot be null or empty"},
      {"sum::m", "String index out of range: 0"},
      {"sum:m{host=a", "Missing '}' at the end of: m{host=a"},
      {"sum:m{host}", "When parsing tag 'host': invalid tag: host"},
      {"sum:m{host=a,}", "When parsing tag '': invalid tag: "},
      {"sum:m{}{host}", "When parsing filter 'host': invalid tag: host"},
      {"sum:m{host=|}", "When parsing tag 'host=|': Filter must contain more than just a pipe"},
      {"sum:m{host=wildcard(a)}",
       "When parsing tag 'host=wildcard(a)': Filter must contain an asterisk"},
      {"sum:m{host=regexp(a}",
       "When parsing tag 'host=regexp(a': Filter must end with a ')': regexp(a"},
      {"sum:m{host=foo(a)}",
       "When parsing tag 'host=foo(a)': Could not find a tag value filter of the type: foo"},
      {"sum:percentiles[]:m", "empty String"},
  };
  for (const auto& [m, text] : cases) {
    const auto question = uri_m(m);
    EXPECT_EQ(message(question), text);
    EXPECT_EQ(code(question), Errc::kInternal) << m;
  }
}

TEST(QuestionUri, ColonsInBracesAreNoSeparators) {
  const auto parsed = [](const std::string& m) {
    const auto question = uri_m(m);
    if (!question) return question.error().message;
    const SubQuestion& sub = question->queries[0];
    std::string text = sub.metric;
    for (const Filter& filter : sub.filters) text += " " + filter.filter.pattern;
    return text;
  };
  EXPECT_EQ(parsed("sum:m{host=a:8082}"), "m a:8082");
  EXPECT_EQ(parsed("sum:rate{counter,,1}:1m-avg:m{host=a:1}{dc=b:2}"), "m b:2 a:1");
  EXPECT_EQ(parsed("sum:m{host=regexp(a{2,3}(b|c:,){1}),dc=x}"), "m a{2,3}(b|c:,){1} x");
  EXPECT_EQ(parsed("sum:m{host=regexp(a\\({2}b),dc=x}"), "m a\\({2}b x");
  EXPECT_EQ(parsed("sum:m{host=regexp(a=b)}"), "m a=b");
  EXPECT_EQ(parsed("sum:m{host=a=b}"), "When parsing tag 'host=a=b': invalid tag: host=a=b");
  // What is not closed separates nothing.
  EXPECT_EQ(parsed("sum:m{host=a:b"), "b");
  EXPECT_EQ(parsed("sum:m(host=a:b"), "b");
  EXPECT_EQ(parsed("sum:m}:b"), "b");
}

TEST(QuestionUri, ManyOpenBracesTakeNoLongerThanTheirNumber) {
  const auto question = uri_m("sum:" + std::string(1 << 16, '(') + std::string(1 << 16, '{'));
  EXPECT_EQ(code(question), Errc::kInternal);
}

TEST(QuestionUri, ValidationRefusalsSayWhatWasAsked) {
  const auto question =
      uri({{"start", "1356998410"}, {"end", "1356998400"}, {"m", "sum:1m-avg:m"}});
  EXPECT_EQ(message(question),
            "End time [1356998400000] must be greater than the start time [1356998410000]");
  EXPECT_EQ(question.error().details, "start=1356998410 end=1356998400 query=(sum:1m-avg:m)");
  EXPECT_EQ(message(uri_m("foo:m")), "No such aggregation function: foo");
  EXPECT_EQ(message(uri_m(":m")), "Missing the aggregation function");
  EXPECT_EQ(message(uri_m("sum:{host=a}")), "Missing the metric or tsuids, provide at least one");
  EXPECT_EQ(message(uri_m("sum:1m-foo:m")), "No such downsampling function: foo");
  EXPECT_EQ(message(uri_m("sum:1m:m")),
            "Invalid downsampling specifier '1m': must provide at least interval and function");
  EXPECT_EQ(message(uri_m("sum:1m-a-b-c:m")),
            "Invalid downsampling specifier '1m-a-b-c': must consist of interval, function, and "
            "optional fill policy");
  EXPECT_EQ(message(uri_m("sum:1m-none:m")), "cannot use the NONE aggregator for downsampling");
  EXPECT_EQ(message(uri_m("sum:1m-avg-foo:m")), "Unrecognized fill policy: foo");
  EXPECT_EQ(message(uri({{"start", "01/01/2013"}, {"m", "sum:m"}})),
            "Invalid timestamp: -61961932800000");
  EXPECT_EQ(code(uri({{"start", "01/01/2013"}, {"m", "sum:m"}})), Errc::kInternal);
}

TEST(QuestionUri, Histograms) {
  const auto question = uri_m("sum:1m-sum:percentiles[98,99.9]:show-histogram-buckets:m");
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_THAT(question->queries[0].percentiles, ElementsAre(98.0f, 99.9f));
  EXPECT_TRUE(question->queries[0].show_histogram_buckets);
  EXPECT_EQ(message(uri_m("max:percentiles[98]:m")),
            "Only NONE or SUM aggregation function supported for histogram query");
  EXPECT_EQ(message(uri_m("sum:1m-avg:percentiles[98]:m")),
            "Only SUM downsampling aggregation supported for histogram query");
  EXPECT_EQ(message(uri_m("sum:percentiles[101]:m")), "Invalid percentile parameters: 101.0");
}

TEST(QuestionUri, LastOfATwiceGivenParameterCounts) {
  const auto question = uri({{"start", "1"}, {"start", "1356998460"}, {"m", "sum:m"}});
  ASSERT_TRUE(question);
  EXPECT_EQ(question->begin, 1'356'998'460'000);
}

TEST(QuestionUri, SameSubQueriesCollapse) {
  const auto question = uri({{"start", "1"}, {"m", "sum:m"}, {"m", "max:m"}, {"m", "sum:m"}});
  ASSERT_TRUE(question);
  ASSERT_THAT(question->queries, SizeIs(2));
  EXPECT_EQ(question->queries[0].aggregator, "sum");
  EXPECT_EQ(question->queries[1].aggregator, "max");
}

TEST(QuestionUri, Tsuids) {
  const auto tsuid = [](const std::string& value) {
    return uri({{"start", "1"}, {"tsuid", value}});
  };
  const auto question = tsuid("sum:1m-avg:000001000001000001,000001000001000002");
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_THAT(question->queries[0].tsuids, SizeIs(2));
  EXPECT_EQ(question->queries[0].tsuids[1].size(), 9);
  EXPECT_EQ(message(tsuid("sum:000001000001000001,000002000001000001")),
            "One or more TSUIDs did not share the same metric [000001] [000002]");
  EXPECT_EQ(message(tsuid("sum:01")), "begin 0, end 6, length 2");
  EXPECT_EQ(code(tsuid("sum:01")), Errc::kInternal);
  EXPECT_EQ(message(tsuid("sum:zzzzzz")), "bad TSUID \"zzzzzz\": not hexadecimal");
}

TEST(QuestionJson, Whole) {
  const auto question = json(R"({"start":"1h-ago","end":null,"timezone":"Europe/Paris",
    "showTSUIDs":true,"msResolution":"true","delete":true,"padding":true,"nosuch":{"a":[1]},
    "queries":[{"aggregator":"sum","metric":"m","rate":true,
      "rateOptions":{"counter":true,"counterMax":"200","resetValue":1.5,"dropResets":1},
      "downsample":"1dc-sum","explicitTags":true,"nosuch":1,
      "filters":[{"type":"wildcard","tagk":"host","filter":"web*","groupBy":true},
                 {"type":"literal_or","tagk":"dc","filter":"lga","group_by":false}]}]})");
  ASSERT_TRUE(question) << question.error().message << question.error().details;
  EXPECT_EQ(question->begin, kContext.now - 3'600'000);
  EXPECT_EQ(question->end, kContext.now + 1);
  EXPECT_EQ(question->timezone, "Europe/Paris");
  EXPECT_TRUE(question->show_tsuids && question->ms_resolution && question->delete_points);
  const SubQuestion& sub = question->queries[0];
  EXPECT_EQ(*sub.rate, (RateSpec{.counter = true,
                                 .counter_max = 200,
                                 .reset_value = 1,
                                 .drop_resets = true,
                                 .options_given = true}));
  EXPECT_TRUE(sub.downsample->calendar);
  EXPECT_EQ(sub.downsample->unit, "d");
  EXPECT_EQ(sub.downsample->interval, 1);
  EXPECT_THAT(sub.filters, ElementsAre(Filter{{FilterType::kWildcard, "host", "web*"}, true},
                                       Filter{{FilterType::kLiteralOr, "dc", "lga"}, false}));
}

TEST(QuestionJson, LaterOfTagsAndFiltersWins) {
  const std::string tags = R"("tags":{"host":"a"})";
  const std::string filters =
      R"("filters":[{"type":"wildcard","tagk":"dc","filter":"*","groupBy":false}])";
  EXPECT_EQ(json_sub(tags + "," + filters)->queries[0].filters[0].filter.key, "dc");
  EXPECT_EQ(json_sub(filters + "," + tags)->queries[0].filters[0].filter.key, "host");
  EXPECT_THAT(json_sub(filters + R"(,"tags":null)")->queries[0].filters, IsEmpty());
}

TEST(QuestionJson, UseCalendarMakesEveryIntervalOne) {
  const auto question = json(R"({"start":1,"useCalendar":true,"queries":[
    {"aggregator":"sum","metric":"m","downsample":"1d-sum"},
    {"aggregator":"sum","metric":"m","downsample":"0all-sum"}]})");
  ASSERT_TRUE(question);
  EXPECT_TRUE(question->queries[0].downsample->calendar);
  EXPECT_TRUE(question->queries[1].downsample->all);
  EXPECT_FALSE(question->queries[1].downsample->calendar);
}

TEST(QuestionJson, FlagsOfTheUri) {
  const std::string body = R"({"start":1,"queries":[{"aggregator":"sum","metric":"m"}]})";
  const auto question = json(body, {{"arrays", "true"}, {"ms", ""}});
  EXPECT_TRUE(question->arrays);
  EXPECT_FALSE(question->ms_resolution);
}

TEST(QuestionJson, UseViewsCanBeApproximate) {
  const auto using_views = [](const std::string& value) {
    return json(R"({"start":1,"queries":[{"aggregator":"sum","metric":"m"}],"useViews":)" + value +
                "}");
  };
  for (const auto& [value, use, approximate] : {std::tuple("true", true, false),
                                                {"false", false, false},
                                                {R"("approximate")", true, true}}) {
    const auto question = using_views(value);
    ASSERT_TRUE(question) << value;
    EXPECT_EQ(question->use_views, use) << value;
    EXPECT_EQ(question->approximate_views, approximate) << value;
  }
  EXPECT_EQ(using_views(R"("exact")").error().details,
            R"(bad value of "useViews": expected true, false or "approximate")");
}

TEST(QuestionJson, Refusals) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"queries":[{"aggregator":"sum","metric":"m"}]})", "Missing start time"},
      {R"({"start":"","queries":[]})", "Missing start time"},
      {R"({"start":1,"queries":[]})", "Missing queries"},
      {R"({"start":1,"queries":[{"metric":"m"}]})", "Missing the aggregation function"},
      {R"({"start":1,"queries":[{"aggregator":"sum"}]})",
       "Missing the metric or tsuids, provide at least one"},
      {R"({"start":1,"timezone":"X/Y","queries":[{"aggregator":"sum","metric":"m","downsample":"1m-sum"}]})",
       "The timezone specification could not be found"},
      {R"({"start":1,"queries":[{"aggregator":"sum","metric":"m","downsample":"-sum"}]})",
       "String index out of range: -1"},
  };
  for (const auto& [body, text] : cases) {
    EXPECT_EQ(message(json(body)), text);
    EXPECT_EQ(code(json(body)), Errc::kInvalidArgument) << body;
  }
  for (const std::string body : {"{}", "null", R"({"start":1,"queries":null})"}) {
    EXPECT_EQ(message(json(body)), "An internal null pointer exception was thrown") << body;
    EXPECT_EQ(code(json(body)), Errc::kInternal);
  }
}

TEST(QuestionJson, UnreadableBodiesTellWhyInTheDetails) {
  const auto details = [](const std::string& body) {
    const auto question = json(body);
    EXPECT_EQ(message(question), "Unable to parse the given JSON") << body;
    EXPECT_EQ(code(question), Errc::kInvalidArgument) << body;
    return question ? "" : question.error().details;
  };
  EXPECT_NE(details("{\"start\":"), "");
  EXPECT_NE(details(""), "");
  EXPECT_EQ(details("[1]"), "expected an object");
  const auto sub = [](const std::string& fields) {
    return R"({"start":1,"queries":[{"aggregator":"sum","metric":"m",)" + fields + "}]}";
  };
  EXPECT_EQ(details(sub(R"("rate":"yes")")), "bad value of \"rate\": expected true or false");
  EXPECT_EQ(details(sub(R"("rateOptions":{"nosuch":1})")),
            "Unrecognized field \"nosuch\" in rateOptions");
  EXPECT_EQ(details(sub(R"("filters":[{"tagk":"a","filter":"b"}])")),
            "The filter type cannot be null or empty");
  EXPECT_EQ(details(sub(R"("filters":[{"type":"regexp","filter":"b"}])")),
            "The tagk cannot be null or empty");
  EXPECT_EQ(details(sub(R"("filters":[{"type":"regexp","tagk":"a"}])")),
            "Filter cannot be null or empty");
  EXPECT_EQ(details(sub(R"("filters":[{"type":"WILDCARD","tagk":"a","filter":"*"}])")),
            "Could not find a tag value filter of the type: WILDCARD");
  EXPECT_EQ(details(sub(R"("tags":{"host":"regexp(a"})")), "Filter must end with a ')': regexp(a");
  EXPECT_EQ(details(sub(R"("tags":[1])")), "bad value of \"tags\": expected an object");
}

TEST(QuestionJson, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    return R"({"start":1,"x":)" + std::string(depth, '[') + std::string(depth, ']') +
           R"(,"queries":[{"aggregator":"sum","metric":"m"}]})";
  };
  EXPECT_EQ(message(json(nested(kContext.json_depth_max - 1))), "ok");
  EXPECT_EQ(message(json(nested(kContext.json_depth_max))), "Unable to parse the given JSON");
  EXPECT_EQ(message(json(nested(100'000))), "Unable to parse the given JSON");
}

TEST(QuestionJson, TwoParsesFromOneBuffer) {
  const std::string body = R"({"start":1,"queries":[{"aggregator":"sum","metric":"m"}]})";
  EXPECT_EQ(json(body)->queries[0], json(body)->queries[0]);
}

}  // namespace
}  // namespace halite::query
