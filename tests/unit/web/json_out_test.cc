#include "web/json/json_out.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

using query::Answer;
using query::AnswerSeries;

std::string answer_json(const Answer& answer, AnswerFormat format = {}) {
  AnswerSource source(std::make_shared<const Answer>(answer), format);
  std::string text;
  while (source.next(text)) {
  }
  return text;
}

AnswerSeries series_of(std::vector<std::pair<TimestampMs, double>> points, bool floats) {
  AnswerSeries series;
  series.metric = "m";
  for (const auto& [time, value] : points) {
    series.times.push_back(time);
    series.values.push_back(floats ? double_bits(value)
                                   : integer_bits(static_cast<std::int64_t>(value)));
    series.floats.push_back(floats);
  }
  return series;
}

Answer answer_of(std::vector<AnswerSeries> series) {
  Answer answer;
  answer.question.queries.resize(1);
  answer.series = std::move(series);
  return answer;
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(JsonOut, Nothing) { EXPECT_EQ(answer_json(answer_of({})), "[]"); }

TEST(JsonOut, SeriesAndPoints) {
  AnswerSeries first = series_of({{1356998400000, 1}, {1356998460000, -2}}, false);
  first.tags = {{"dc", "lga"}, {"host", "a\"b"}};
  first.aggregate_tags = {"x", "y"};
  AnswerSeries empty = series_of({}, false);
  EXPECT_EQ(answer_json(answer_of({first, empty})),
            R"([{"metric":"m","tags":{"dc":"lga","host":"a\"b"},"aggregateTags":["x","y"],)"
            R"("dps":{"1356998400":1,"1356998460":-2}},)"
            R"({"metric":"m","tags":{},"aggregateTags":[],"dps":{}}])");
}

TEST(JsonOut, DoublesAreJavaText) {
  EXPECT_EQ(answer_json(
                answer_of({series_of({{1000, 1}, {2000, 1e7}, {3000, -0.5}, {4000, 1e-4}}, true)})),
            R"([{"metric":"m","tags":{},"aggregateTags":[],)"
            R"("dps":{"1":1.0,"2":1.0E7,"3":-0.5,"4":1.0E-4}}])");
}

TEST(JsonOut, MillisecondsAndArrays) {
  Answer answer = answer_of({series_of({{1500, 1}, {1750, 2}}, false)});
  // Seconds repeat; nothing is merged.
  EXPECT_NE(answer_json(answer).find(R"({"1":1,"1":2})"), std::string::npos);
  answer.question.ms_resolution = true;
  EXPECT_NE(answer_json(answer).find(R"({"1500":1,"1750":2})"), std::string::npos);
  answer.question.arrays = true;
  EXPECT_NE(answer_json(answer).find(R"("dps":[[1500,1],[1750,2]])"), std::string::npos);
  answer.question.ms_resolution = false;
  EXPECT_NE(answer_json(answer).find(R"("dps":[[1,1],[1,2]])"), std::string::npos);
}

TEST(JsonOut, WhatIsNoNumber) {
  Answer answer = answer_of(
      {series_of({{1000, kNaN}, {2000, 5}, {3000, kInfinity}, {4000, -kInfinity}}, true)});
  EXPECT_NE(answer_json(answer).find(R"({"1":"NaN","2":5.0,"3":"Infinity","4":"-Infinity"})"),
            std::string::npos);
  answer.question.queries[0].downsample = query::DownsampleSpec{};
  answer.question.queries[0].downsample->fill = query::FillPolicy::kNull;
  EXPECT_NE(answer_json(answer).find(R"({"1":null,"2":5.0,)"), std::string::npos);
  // Grafana cannot read any of these.
  EXPECT_NE(answer_json(answer, {.plain_numbers = true}).find(R"("dps":{"2":5.0}})"),
            std::string::npos);
  answer.question.arrays = true;
  EXPECT_NE(answer_json(answer, {.plain_numbers = true}).find(R"("dps":[[2,5.0]]})"),
            std::string::npos);
}

TEST(JsonOut, NansAsStored) {
  AnswerSeries series = series_of({{1000, kInfinity}, {2000, 1}, {3000, 2}}, true);
  series.values[1] = kStaleMarker;
  series.values[2] = double_bits(kNaN);
  Answer answer = answer_of({series});
  answer.question.as_stored = true;
  query::SubQuestion& sub = answer.question.queries.front();
  sub.aggregator = "none";
  EXPECT_NE(answer_json(answer).find(
                R"({"1":"Infinity","2":"NaN:7FF0000000000002","3":"NaN:7FF8000000000000"})"),
            std::string::npos);
  sub.downsample.emplace().fill = query::FillPolicy::kNull;
  EXPECT_NE(answer_json(answer).find(R"({"1":"Infinity","2":null,"3":null})"), std::string::npos);
  sub.downsample.reset();
  sub.aggregator = "sum";
  EXPECT_NE(answer_json(answer).find(R"({"1":"Infinity","2":"NaN","3":"NaN"})"), std::string::npos);
}

TEST(JsonOut, ShowTsuids) {
  AnswerSeries series = series_of({}, false);
  series.tsuids = {Bytes("\x00\x00\x01\xab", 4), Bytes("\x02", 1)};
  Answer answer = answer_of({series});
  answer.question.show_tsuids = true;
  EXPECT_NE(answer_json(answer).find(R"("aggregateTags":[],"tsuids":["000001AB","02"],"dps")"),
            std::string::npos);
}

TEST(JsonOut, ShowQuery) {
  query::SubQuestion sub;
  sub.aggregator = "sum";
  sub.metric = "m";
  sub.filters = {{{storage::FilterType::kWildcard, "host", "*"}, true},
                 {{storage::FilterType::kLiteralOr, "dc", "lga"}, false}};
  sub.rate = query::RateSpec{.counter = true, .counter_max = 100, .reset_value = 5};
  sub.rate_options = sub.rate;
  sub.downsample = query::DownsampleSpec{};
  sub.downsample->text = "1m-avg-nan";
  std::string text;
  append_query_echo(text, sub, 1);
  EXPECT_EQ(
      text,
      R"({"aggregator":"sum","metric":"m","tsuids":null,"downsample":"1m-avg-nan","rate":true,)"
      R"("filters":[{"tagk":"host","filter":"*","group_by":true,"type":"wildcard"},)"
      R"({"tagk":"dc","filter":"lga","group_by":false,"type":"literal_or"}],"percentiles":null,)"
      R"("index":1,"rateOptions":{"counter":true,"counterMax":100,"resetValue":5,)"
      R"("dropResets":false},"filterTagKs":null,"explicitTags":false,"useFuzzyFilter":true,)"
      R"("preAggregate":false,"rollupUsage":null,"rollupTable":"raw",)"
      R"j("showHistogramBuckets":false,"useMultiGets":true,"tags":{"host":"wildcard(*)"},)j"
      R"("histogramQuery":false})");
  text.clear();
  query::SubQuestion by_tsuid;
  by_tsuid.aggregator = "max";
  by_tsuid.tsuids = {"\x0a"};
  by_tsuid.tsuid_texts = {"a"};
  append_query_echo(text, by_tsuid, 0);
  EXPECT_TRUE(text.starts_with(
      R"({"aggregator":"max","metric":null,"tsuids":["a"],"downsample":null,"rate":false,)"
      R"("filters":[],)"));
}

TEST(JsonOut, StatsAndSummary) {
  Answer answer = answer_of({series_of({{1000, 1}}, false)});
  answer.cost = {.series = 1,
                 .points_read = 7,
                 .blocks_read = 2,
                 .points_out = 1,
                 .work = {.chunks_decoded = 4, .chunks_skipped = 5, .totals = 6},
                 .wall_ms = 1.5,
                 .stage_ms = {0.25, 1}};
  answer.question.show_stats = true;
  EXPECT_NE(answer_json(answer).find(R"(},"stats":{"queryIndex":0,"aggregationTime":1.5,)"),
            std::string::npos);
  answer.question.show_summary = true;
  EXPECT_NE(answer_json(answer).find(R"(,{"statsSummary":{"aggregationTime":1.5,)"),
            std::string::npos);
  EXPECT_NE(
      answer_json(answer).find(R"(,"halite":{"series":1,"pointsRead":7,"pointsOut":1,"blocks":2,)"
                               R"("chunksDecoded":4,"chunksSkipped":5,"totals":6,"ms":1.500,)"
                               R"("stages":{"select":0.250,"read":1.000,"merge":0.000,)"
                               R"("annotations":0.000}},)"),
      std::string::npos);
  EXPECT_NE(answer_json(answer).find(R"("queryIdx_00":{"queryIndex":0,"aggregationTime":1.5,)"),
            std::string::npos);
  EXPECT_TRUE(answer_json(answer).ends_with(R"("scannerStats":{}}}}])"));
  answer.series.clear();
  EXPECT_TRUE(answer_json(answer).starts_with(R"([{"statsSummary":{)"));
}

TEST(JsonOut, LongAnswersComeInPieces) {
  AnswerSeries series = series_of({}, false);
  for (int i = 0; i < 100'000; ++i) {
    series.times.push_back(i * 1000);
    series.values.push_back(integer_bits(i));
    series.floats.push_back(false);
  }
  const Answer answer = answer_of({series, series});
  AnswerSource source(std::make_shared<const Answer>(answer), {});
  std::string piece;
  std::string all;
  int pieces = 0;
  while (source.next(piece)) {
    EXPECT_LE(piece.size(), 129u << 10);
    all += piece;
    piece.clear();
    ++pieces;
  }
  EXPECT_GT(pieces, 20);
  EXPECT_EQ(all, answer_json(answer));
  EXPECT_NE(all.find(R"("99999":99999}},{"metric":"m")"), std::string::npos);
}

}  // namespace
}  // namespace halite::web
