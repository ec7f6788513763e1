#include "web/json/prometheus_json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

namespace promql = query::promql;
using promql::kAbsent;

std::string value_text(double number) {
  char text[kPrometheusValueBytesMax];
  return {text, write_prometheus_value(text, number)};
}

std::string time_text(TimestampMs ms) {
  char text[kPrometheusTimeBytesMax];
  return {text, write_prometheus_time(text, ms)};
}

std::string whole_of(BodySource& source) {
  std::string text;
  while (source.next(text)) {
  }
  return text;
}

std::string answer_text(promql::Value of, promql::Steps steps, PromqlFormat format = {}) {
  query::PromqlAnswer made{.steps = steps,
                           .type = promql::ValueType::kVector,
                           .value = {},
                           .warnings = {},
                           .infos = {},
                           .cost = {},
                           .keeps = nullptr};
  made.value = std::move(of);
  PromqlAnswerSource source(std::make_shared<const query::PromqlAnswer>(std::move(made)),
                            std::move(format));
  return whole_of(source);
}

std::string success(std::string_view data) {
  return R"({"status":"success","data":)" + std::string(data);
}

constexpr promql::Steps kAtOnce = {.begin = 1500, .step_ms = 1, .count = 1};
constexpr promql::Steps kThree = {.begin = 1000, .step_ms = 500, .count = 3};

TEST(PrometheusJson, values_are_as_go_writes_them) {
  EXPECT_EQ(value_text(0), "0");
  EXPECT_EQ(value_text(-0.0), "-0");
  EXPECT_EQ(value_text(1), "1");
  EXPECT_EQ(value_text(-2.5), "-2.5");
  EXPECT_EQ(value_text(0.1), "0.1");
  EXPECT_EQ(value_text(1e-6), "0.000001");
  EXPECT_EQ(value_text(1e-7), "1e-07");
  EXPECT_EQ(value_text(1.5e-7), "1.5e-07");
  EXPECT_EQ(value_text(1e20), "100000000000000000000");
  EXPECT_EQ(value_text(1e21), "1e+21");
  EXPECT_EQ(value_text(-1e100), "-1e+100");
  EXPECT_EQ(value_text(9007199254740993.0), "9007199254740992");
  EXPECT_EQ(value_text(123456789012345678901.0), "123456789012345680000");
  EXPECT_EQ(value_text(-123456789012345678.0), "-123456789012345680");
  EXPECT_EQ(value_text(5e-324), "5e-324");
  EXPECT_EQ(value_text(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(value_text(0.000001234567890123456), "0.000001234567890123456");
  EXPECT_EQ(value_text(std::nan("")), "NaN");
  EXPECT_EQ(value_text(INFINITY), "+Inf");
  EXPECT_EQ(value_text(-INFINITY), "-Inf");
}

TEST(PrometheusJson, times_have_no_or_three_decimals) {
  EXPECT_EQ(time_text(0), "0");
  EXPECT_EQ(time_text(1500), "1.500");
  EXPECT_EQ(time_text(1), "0.001");
  EXPECT_EQ(time_text(-30), "-0.030");
  EXPECT_EQ(time_text(-2000), "-2");
  EXPECT_EQ(time_text(1435781451781), "1435781451.781");
  EXPECT_EQ(time_text(INT64_MIN), "-9223372036854775.808");
}

TEST(PrometheusJson, texts_are_utf8) {
  std::string text;
  append_prometheus_text(text, "a\"\xFF\xC3\xA9");
  EXPECT_EQ(text, "\"a\\\"\xEF\xBF\xBD\xC3\xA9\"");
}

TEST(PrometheusJson, an_instant_vector) {
  promql::Vector vector;
  vector.rows.push_back({.labels = {{"__name__", "up"}, {"job", "x"}}, .values = {1}});
  vector.rows.push_back({.labels = {{"job", "gone"}}, .values = {kAbsent}});
  vector.rows.push_back({.labels = {}, .values = {std::nan("")}});
  EXPECT_EQ(answer_text(vector, kAtOnce),
            success(R"({"resultType":"vector","result":[)"
                    R"({"metric":{"__name__":"up","job":"x"},"value":[1.500,"1"]},)"
                    R"({"metric":{},"value":[1.500,"NaN"]}]}})"));
  EXPECT_EQ(
      answer_text(vector, kAtOnce, {.range = false, .limit = 1, .stats = false, .warning = "w"}),
      success(R"({"resultType":"vector","result":[)"
              R"({"metric":{"__name__":"up","job":"x"},"value":[1.500,"1"]}]},)"
              R"("warnings":["results truncated due to limit","w"]})"));
  EXPECT_EQ(answer_text(promql::Vector{}, kAtOnce),
            success(R"({"resultType":"vector","result":[]}})"));
}

TEST(PrometheusJson, what_is_cut_is_a_series_with_points) {
  promql::Vector vector;
  vector.rows.push_back({.labels = {{"a", "1"}}, .values = {1}});
  vector.rows.push_back({.labels = {{"a", "2"}}, .values = {kAbsent}});
  EXPECT_EQ(
      answer_text(vector, kAtOnce, {.range = false, .limit = 1, .stats = false, .warning = ""}),
      success(R"({"resultType":"vector","result":[{"metric":{"a":"1"},"value":[1.500,"1"]}]}})"));
}

TEST(PrometheusJson, scalars_and_texts) {
  EXPECT_EQ(answer_text(promql::Scalar{{2.5}}, kAtOnce),
            success(R"({"resultType":"scalar","result":[1.500,"2.5"]}})"));
  EXPECT_EQ(answer_text(std::string("a\n"), kAtOnce),
            success(R"({"resultType":"string","result":[1.500,"a\n"]}})"));
}

TEST(PrometheusJson, a_range_is_always_a_matrix) {
  const PromqlFormat range{.range = true, .limit = 0, .stats = false, .warning = ""};
  EXPECT_EQ(answer_text(promql::Scalar{{1, 2, 3}}, kThree, range),
            success(R"({"resultType":"matrix","result":[)"
                    R"({"metric":{},"values":[[1,"1"],[1.500,"2"],[2,"3"]]}]}})"));
  promql::Vector vector;
  vector.rows.push_back({.labels = {{"a", "1"}}, .values = {kAbsent, kAbsent, kAbsent}});
  vector.rows.push_back({.labels = {{"a", "2"}}, .values = {kAbsent, 7, kAbsent}});
  vector.rows.push_back({.labels = {{"a", "3"}}, .values = {1, kAbsent, 2}});
  EXPECT_EQ(answer_text(vector, kThree, range),
            success(R"({"resultType":"matrix","result":[)"
                    R"({"metric":{"a":"2"},"values":[[1.500,"7"]]},)"
                    R"({"metric":{"a":"3"},"values":[[1,"1"],[2,"2"]]}]}})"));
  EXPECT_EQ(answer_text(promql::Vector{}, kThree, range),
            success(R"({"resultType":"matrix","result":[]}})"));
}

TEST(PrometheusJson, a_range_vector_has_its_own_times) {
  promql::Matrix matrix;
  matrix.rows.push_back({.labels = {{"a", "1"}}, .times = {10, 2000}, .values = {1, 2}});
  EXPECT_EQ(answer_text(matrix, kAtOnce),
            success(R"({"resultType":"matrix","result":[)"
                    R"({"metric":{"a":"1"},"values":[[0.010,"1"],[2,"2"]]}]}})"));
}

TEST(PrometheusJson, long_answers_come_in_pieces) {
  promql::Vector vector;
  constexpr std::size_t kSteps = 10'000;
  for (int i = 0; i < 3; ++i) {
    vector.rows.push_back({.labels = {}, .values = std::vector<double>(kSteps, i)});
  }
  const query::PromqlAnswer made{.steps = {.begin = 0, .step_ms = 1000, .count = kSteps},
                                 .type = promql::ValueType::kVector,
                                 .value = vector,
                                 .warnings = {},
                                 .infos = {"i"},
                                 .cost = {.points_read = 5},
                                 .keeps = nullptr};
  PromqlAnswerSource source(std::make_shared<const query::PromqlAnswer>(made),
                            {.range = true, .limit = 0, .stats = true, .warning = ""});
  std::string whole;
  std::string piece;
  std::size_t pieces = 0;
  while (source.next(piece)) {
    EXPECT_LT(piece.size(), 80u << 10);
    ++pieces;
    whole += std::exchange(piece, {});
  }
  EXPECT_GT(pieces, 3u);
  EXPECT_TRUE(whole.ends_with(R"([9999,"2"]]}],"stats":{"timings":{"evalTotalTime":0.000000,)"
                              R"("resultSortTime":0,"queryPreparationTime":0.000000,)"
                              R"("innerEvalTime":0.000000,"execQueueTime":0,)"
                              R"("execTotalTime":0.000000},"samples":{"totalQueryableSamples":5,)"
                              R"("samplesRead":5,"peakSamples":5}}},"infos":["i"]})"));
}

TEST(PrometheusJson, lists) {
  PrometheusListSource empty(0, nullptr, {});
  EXPECT_EQ(whole_of(empty), success("[]}"));
  PrometheusListSource two(
      2, [](std::string& to, std::size_t i) { append_prometheus_text(to, std::to_string(i)); },
      {.warnings = {"w"}, .infos = {}});
  EXPECT_EQ(whole_of(two), success(R"(["0","1"],"warnings":["w"]})"));
}

}  // namespace
}  // namespace halite::web
