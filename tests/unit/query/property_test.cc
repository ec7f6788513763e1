// Random series, gaps and types, random questions: the streaming operators against the reference.
//
// HALITE_PROPERTY_CASES sets how many (300); ./dev properties asks for 200 000. The other settings
// are those of tests/support/dice.h. Case n of a seed is always the same; a failure names both, and
// HALITE_PROPERTY_FIRST=n runs from it on.
#include <cmath>
#include <string>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/java/java_double.h"
#include "query/answer.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/parse/aggregator.h"
#include "query/parse/parse_context.h"
#include "query/parse/question_parse.h"
#include "tests/support/dice.h"
#include "tests/support/run_task.h"
#include "tests/support/sample_point_store.h"
#include "tests/support/sanitized.h"
#include "tests/unit/query/reference.h"

namespace halite::query {
namespace {

using test::Dice;

// Around New Year, the two changes of clocks in Paris and a 29th of February.
const std::vector<TimestampMs> kEpochs = {1'356'998'400'000, 1'356'998'400'000, 1'364'688'000'000,
                                          1'382'832'000'000, 1'456'700'400'000};
const std::vector<std::string> kZones = {
    "", "Europe/Paris", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"};
constexpr std::int64_t kHour = 3'600'000;

struct Shape {
  bool early = false;     // every series has a point in the first hour
  bool one_type = false;  // all integers or all doubles
  bool narrow = false;    // few minutes of series that are named: what narrow_plan() is for
};

// The same times as another series, as far as both reach.
void align(std::vector<test::SamplePoint>& points, const std::vector<test::SamplePoint>& to) {
  points.resize(std::min(points.size(), to.size()));
  for (std::size_t i = 0; i < points.size(); ++i) points[i].time = to[i].time;
}

enum class Values : std::uint8_t { kIntegers, kDoubles, kMixed, kExtreme };

test::SamplePoint random_point(Dice& dice, Shape shape, Values values, TimestampMs time) {
  const bool is_float =
      values == Values::kDoubles || (values == Values::kMixed && !shape.one_type && dice.one_in(3));
  std::int64_t whole = dice.upto(2000) - 1000;
  if (values == Values::kExtreme && dice.one_in(4)) {
    whole = dice.of<std::int64_t>(
        {INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, 1LL << 53, (1LL << 53) + 1, -1, 0});
  }
  double real = static_cast<double>(whole) / dice.of<double>({1, 2, 7, 10});
  if (dice.one_in(200)) real = dice.of<double>({-0.0, 5e-324, -1e300, 1e300, 1e17, 0.1});
  return {time, is_float ? double_bits(real) : integer_bits(whole), is_float};
}

std::vector<test::SampleSeries> random_series(Dice& dice, Shape shape, TimestampMs epoch) {
  std::vector<test::SampleSeries> all;
  const bool ms = dice.one_in(4);
  const std::int64_t step = dice.of<std::int64_t>({1, 5, 10, 30, 60, 61, 300, 1000});
  const Values values =
      dice.of<Values>({Values::kIntegers, Values::kIntegers, Values::kDoubles, Values::kDoubles,
                       Values::kMixed, Values::kMixed, Values::kExtreme});
  const std::int64_t count = 1 + dice.upto(5);
  const std::int64_t points_max = shape.narrow && !dice.one_in(4) ? 400 : 40;
  for (std::int64_t s = 0; s < count; ++s) {
    test::SampleSeries series;
    series.name = {"m", {{"g", fmt::format("g{}", dice.upto(2))}, {"host", fmt::format("h{}", s)}}};
    TimestampMs time =
        epoch + (shape.early ? dice.upto(30) * 60'000 : dice.upto(4 * kHour) / 1000 * 1000);
    const std::int64_t points = 1 + dice.upto(points_max);
    for (std::int64_t p = 0; p < points; ++p) {
      series.points.push_back(random_point(dice, shape, values, time));
      std::int64_t gap = step * 1000 * (dice.one_in(8) ? 1 + dice.upto(30) : 1);
      if (ms) gap += dice.upto(999);
      if (dice.one_in(30)) gap += dice.upto(3) * kHour;
      time += gap;
    }
    all.push_back(std::move(series));
  }
  if (dice.one_in(3)) {
    for (test::SampleSeries& series : all) align(series.points, all.front().points);
  }
  return all;
}

std::string random_rate(Dice& dice) {
  return dice.of<std::string>({"rate:", "rate:", "rate{counter}:", "rate{counter,1000}:",
                               "rate{counter,1000,5}:", "rate{dropcounter}:"});
}

std::string random_downsample(Dice& dice) {
  const std::string interval = dice.of<std::string>(
      {"1s",   "500ms", "10s",  "1m",  "90s", "95s", "2m",  "7m",  "17m", "1h",  "3h",   "1d",
       "0all", "1mc",   "15mc", "7mc", "1hc", "5hc", "1dc", "2dc", "1wc", "1nc", "333ms"});
  std::string function = "none";
  while (function == "none") function = dice.of(aggregator_names());
  // Short buckets are not filled: a case would become as large as all others together.
  const bool may_fill = !interval.ends_with("ms") && interval != "1s" && interval != "10s";
  const std::string fill =
      may_fill ? dice.of<std::string>({"", "", "-none", "-nan", "-null", "-zero"}) : "";
  return interval + "-" + function + fill + ":";
}

Parameters random_question(Dice& dice, Shape shape, TimestampMs epoch) {
  std::string m = dice.of(aggregator_names()) + ":";
  if (dice.one_in(2)) m += random_downsample(dice);
  if (dice.one_in(3)) m += random_rate(dice);
  m += dice.of<std::string>({"m", "m", "m{g=*}", "m{host=*}"});
  TimestampMs begin = epoch;
  TimestampMs end = epoch + 1 + dice.upto(8 * kHour);
  if (dice.one_in(2)) begin = epoch + dice.upto(shape.early ? kHour - 1 : 3 * kHour);
  if (dice.one_in(2)) {
    begin = begin / 1000 * 1000;
    end = end / 1000 * 1000;
  }
  if (end <= begin) end = begin + 1 + dice.upto(2 * kHour);
  return {{"start", fmt::format("{}ms", begin)}, {"end", fmt::format("{}ms", end)}, {"m", m}};
}

Parameters narrow_question(Dice& dice, TimestampMs epoch) {
  std::string function = "none";
  while (function == "none") function = dice.of(aggregator_names());
  std::string m = dice.of(aggregator_names()) + ":";
  m += dice.of<std::string>({"10s", "1m", "1m", "90s", "2m", "7m", "333ms"}) + "-" + function + ":";
  const std::string all = "h0|h1|h2|h3|h4|h5";
  m += dice.of<std::string>({"m{}{host=literal_or(" + all + ")}", "m{g=g0|g1|g2}",
                             "m{}{host=literal_or(" + all + ")}", "m{host=" + all + "}"});
  TimestampMs begin = epoch + dice.upto(3 * kHour / 2);
  TimestampMs end = begin + 1 + dice.upto(kHour / 2);
  if (!dice.one_in(3)) {
    begin = begin / 60'000 * 60'000;
    end = end / 60'000 * 60'000 + (dice.one_in(2) ? 60'000 : 1);
  }
  if (end <= begin) end = begin + 1;
  return {{"start", fmt::format("{}ms", begin)}, {"end", fmt::format("{}ms", end)}, {"m", m}};
}

std::string text_of(bool is_float, std::int64_t integer, double number) {
  return is_float ? java_double(number) : std::to_string(integer);
}

std::string text_of(const std::vector<ReferencePoint>& points) {
  std::string text;
  for (const ReferencePoint& p : points) {
    text += fmt::format("{}={} ", p.time, text_of(p.is_float, p.integer, p.number));
  }
  return text;
}

std::string text_of(const AnswerSeries& series) {
  std::string text;
  for (std::size_t i = 0; i < series.times.size(); ++i) {
    text += fmt::format(
        "{}={} ", series.times[i],
        text_of(series.floats[i], as_integer(series.values[i]), as_double(series.values[i])));
  }
  return text;
}

// The answers that the reference gives, in the engine's order.
std::vector<std::string> expected(const Question& question, const storage::PointStore& store,
                                  const std::vector<test::SampleSeries>& samples) {
  const SubQuestion& sub = question.queries[0];
  std::map<Bytes, std::map<Bytes, const test::SampleSeries*>> groups;  // members by tsuid
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const storage::Series& series = store.series(static_cast<storage::SeriesId>(i));
    Bytes key = sub.aggregator == "none" ? series.tsuid.bytes() : "";
    for (const storage::SeriesTag& tag : series.tags) {
      for (const Filter& filter : sub.filters) {
        const bool by_it = filter.group_by && filter.filter.key == tag.key;
        if (sub.aggregator != "none" && by_it) append_be(key, tag.value_uid);
      }
    }
    groups[key][series.tsuid] = &samples[i];
  }
  std::vector<std::string> texts;
  for (const auto& [key, members] : groups) {
    std::vector<const test::SampleSeries*> ordered;
    for (const auto& [tsuid, sample] : members) ordered.push_back(sample);
    texts.push_back(text_of(reference_answer(question, sub, ordered)));
  }
  return texts;
}

// How many points the hours have that a question is about.
std::uint64_t points_in_hours(const std::vector<test::SampleSeries>& samples,
                              const Question& question) {
  std::uint64_t count = 0;
  for (const test::SampleSeries& series : samples) {
    for (const test::SamplePoint& point : series.points) {
      const TimestampMs hour = point.time / kHour * kHour;
      count += hour + kHour > question.begin && hour < question.end ? 1 : 0;
    }
  }
  return count;
}

// A series without a point in the scan range is no answer; the reference gives it an empty one.
std::vector<std::string> without_empty(std::vector<std::string> texts) {
  std::erase(texts, "");
  return texts;
}

class Property : public testing::Test {
 protected:
  void run(std::uint64_t seed, std::uint64_t number, Shape shape, QueryLimits limits) {
    // Seeds are far apart: no case of one is a case of another.
    Dice dice((seed << 32) + number * 2 + (shape.one_type ? 1 : 0));
    const TimestampMs epoch = dice.of(kEpochs);
    const Parameters parameters =
        shape.narrow ? narrow_question(dice, epoch) : random_question(dice, shape, epoch);
    shape.early = shape.early && (shape.narrow || parameters[2].second.contains("rate"));
    const std::vector<test::SampleSeries> samples = random_series(dice, shape, epoch);
    test::SamplePointStore store(samples, static_cast<std::uint32_t>(1 + dice.upto(3)), number);
    ParseContext context;
    context.now = epoch;
    auto question = parse_question_uri(parameters, context);
    ASSERT_TRUE(question) << question.error().message;
    question->timezone = dice.of(kZones);
    question->whole_scan = dice.one_in(8);
    const std::vector<std::string> wanted = without_empty(expected(*question, store, samples));
    QueryEngine engine(store, clock_, limits, false,
                       {.large = pool_.get_executor(), .small = pool_.get_executor()}, metrics_);
    const auto answer = test::run_task(engine.run(*question, {}));
    const std::string what =
        fmt::format("seed {}, case {}: {} from {} to {} in {}{}", seed, number,
                    parameters[2].second, question->begin, question->end, question->timezone,
                    question->whole_scan ? ", whole scan" : "");
    const bool infinite = fmt::format("{}", fmt::join(wanted, " ")).contains("Infinity");
    if (infinite) {
      ASSERT_FALSE(answer) << what;
      ASSERT_TRUE(answer.error().message.starts_with("Got Infinity")) << what;
      ++infinite_;
      return;
    }
    ASSERT_TRUE(answer) << what << ": " << answer.error().message;
    std::vector<std::string> found;
    for (const AnswerSeries& series : (*answer)->series) found.push_back(text_of(series));
    ASSERT_EQ(without_empty(found), wanted) << what;
    if (!wanted.empty()) ++answered_;
    if (!wanted.empty() && (*answer)->cost.points_read < points_in_hours(samples, *question)) {
      ++narrow_;
    }
  }

  void run_all(Shape shape, const QueryLimits& limits, std::uint64_t times = 1) {
    const std::uint64_t seed = test::chosen_seed();
    const auto first = static_cast<std::uint64_t>(test::setting("HALITE_PROPERTY_FIRST", 0));
    const auto cases = static_cast<std::uint64_t>(
                           test::setting("HALITE_PROPERTY_CASES", test::kSanitized ? 100 : 300)) *
                       times;
    fmt::print("HALITE_PROPERTY_SEED={}, {} cases from {}\n", seed, cases, first);
    for (std::uint64_t i = first; i < first + cases && !HasFatalFailure(); ++i) {
      run(seed, i, shape, limits);
    }
    if (HasFatalFailure()) return;
    fmt::print("{} answered, {} of them without whole hours, {} too large\n", answered_, narrow_,
               infinite_);
    EXPECT_GT(answered_, cases / 2);  // else the dice are bad and nothing is tested
  }

  std::uint64_t answered_ = 0;
  std::uint64_t narrow_ = 0;
  std::uint64_t infinite_ = 0;

  SystemClock clock_;
  prometheus::Registry metrics_;
  boost::asio::thread_pool pool_{2};
};

TEST_F(Property, EverythingAtOnce) { run_all({}, {}); }

// Some of these want neighbours from the hours around the range, and some do not.
TEST_F(Property, WhatWasAskedAlone) {
  run_all({.early = true, .narrow = true}, {}, 10);  // cases that tell are rare
  EXPECT_GT(narrow_, answered_ / 5);
  EXPECT_LT(narrow_, answered_ * 4 / 5);
}

// Windows of an hour. A series that a later window shows first cannot change what is merged
// already: not its type, nor by the first rate that OpenTSDB adds before it counts. So here all
// points are of one type, and where there are rates every series begins in the first hour.
TEST_F(Property, HourByHour) {
  QueryLimits limits;
  limits.window_bytes = 1;
  run_all({.early = true, .one_type = true}, limits);
}

}  // namespace
}  // namespace halite::query
