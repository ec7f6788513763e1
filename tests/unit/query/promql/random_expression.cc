#include "tests/unit/query/promql/random_expression.h"

#include <bit>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/data_point.h"

namespace halite::query::promql {
namespace {

using test::Dice;
using Texts = std::vector<std::string>;

constexpr int kDepthMax = 4;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kSpan = 30 * kMinuteMs;  // of the series

// ---- series -------------------------------------------------------------------------------------

struct Habits {
  std::int64_t step = 0;
  bool unsteady = false;  // times are not multiples of the step
  bool regular = false;   // no sample is missing, and counters hardly ever fall
  bool clean = false;     // no NaN, infinity or staleness marker
};

double random_value(Dice& dice, Habits habits) {
  if (!habits.clean && dice.one_in(25)) return std::numeric_limits<double>::quiet_NaN();
  if (!habits.clean && dice.one_in(60)) {
    return dice.of<double>({1, -1}) * std::numeric_limits<double>::infinity();
  }
  if (dice.one_in(4)) return static_cast<double>(dice.upto(80) - 20) / 4;
  return static_cast<double>(dice.upto(12) - 3);
}

std::vector<ReferenceSample> random_samples(Dice& dice, Habits habits, TimestampMs begin,
                                            bool counter) {
  std::vector<ReferenceSample> samples;
  double count = static_cast<double>(dice.upto(20));
  TimestampMs time = begin + (dice.one_in(4) ? dice.upto(kSpan / 2) : dice.upto(habits.step));
  if (!habits.unsteady) time = time / habits.step * habits.step;
  const TimestampMs end = begin + kSpan - (dice.one_in(4) ? dice.upto(kSpan / 2) : 0);
  while (time < end) {
    if (counter) {
      count = dice.one_in(habits.regular ? 200 : 12) ? static_cast<double>(dice.upto(3))
                                                     : count + static_cast<double>(dice.upto(9));
    }
    double value = counter ? count : random_value(dice, habits);
    if (!habits.clean && dice.one_in(25)) value = std::bit_cast<double>(kStaleMarker);
    if (habits.regular || !dice.one_in(10)) samples.push_back({time, value});
    time += habits.step;
    if (!habits.regular && dice.one_in(40)) time += habits.step * dice.upto(30);
    if (habits.unsteady) time += dice.upto(1999) - 999;
  }
  return samples;
}

// ---- words --------------------------------------------------------------------------------------

// Some of these, in their order, each once.
Texts some_of(Dice& dice, const Texts& texts, int one_in) {
  Texts some;
  for (const std::string& text : texts) {
    if (dice.one_in(one_in)) some.push_back(text);
  }
  return some;
}

std::string list(const Texts& texts) { return fmt::format("({})", fmt::join(texts, ", ")); }

std::string random_matchers(Dice& dice) {
  if (dice.one_in(2)) return "";
  Texts matchers;
  for (std::int64_t i = dice.upto(1); i >= 0; --i) {
    matchers.push_back(dice.of<std::string>(
        {R"(a="1")", R"(a="2")", R"(a!="1")", R"(a=~"1|2")", R"(a!~"1")", R"(b="x")", R"(b="")",
         R"(b!="")", R"(b=~"x|")", R"(c=~".+")", R"(a=~".*")", R"(b="x")"}));
  }
  return fmt::format("{{{}}}", fmt::join(matchers, ","));
}

// The series and nothing about the time.
std::string random_series_selector(Dice& dice) {
  if (dice.one_in(12)) {
    return dice.of<std::string>({R"({__name__=~"m|n"})", R"({__name__=~"m|c_total"})",
                                 R"({__name__=~"[mn]",a="1"})", R"({a="2",le=""})"});
  }
  return dice.of<std::string>({"m", "m", "m", "m", "n", "n", "n", "c_total", "c_total", "i",
                               "h_bucket", dice.one_in(4) ? "no" : "n"}) +
         random_matchers(dice);
}

std::string random_range(Dice& dice) {
  if (dice.one_in(20)) {
    return dice.of<std::string>({"1m*2", "step()+30s", "range()+45s", "max_of(step(),20s)"});
  }
  return dice.of<std::string>(
      {"30s", "1m", "1m", "2m", "2m", "3m", "5m", "90", "1m1s500ms", "10s"});
}

std::string random_modifiers(Dice& dice, TimestampMs begin) {
  std::string offset;
  std::string at;
  if (dice.one_in(7)) {
    offset = " offset " + dice.of<std::string>(
                              {"30s", "1m", "2m", "-1m", "90", "500ms", "0s", "(1m+10s)", "-45s"});
  }
  if (dice.one_in(10)) {
    const TimestampMs time = begin + dice.upto(kSpan);
    at = " @ " + dice.of<std::string>({"start()", "end()", fmt::format("{}", time / 1000),
                                       fmt::format("{}.{:03}", time / 1000, time % 1000)});
  }
  return dice.one_in(2) ? offset + at : at + offset;
}

// ---- expressions --------------------------------------------------------------------------------

class Writer {
 public:
  Writer(Dice& dice, TimestampMs begin) : dice_(dice), begin_(begin) {}

  std::string vector(int depth);
  std::string scalar(int depth);
  std::string matrix(int depth);

 private:
  std::string number();
  std::string range_call(int depth);
  std::string instant_call(int depth);
  std::string label_call(int depth);
  std::string histogram_call(int depth);
  std::string aggregation(int depth);
  std::string binary(int depth);
  std::string partners(int depth);
  std::string set_operation(int depth);

  std::string one_of(const Texts& texts) { return dice_.of(texts); }
  std::string comparison() { return one_of({"==", "!=", "<", "<=", ">", ">="}); }
  std::string arithmetic() { return one_of({"+", "-", "*", "/", "%", "^", "atan2", "+", "-"}); }
  std::string matching();
  std::string grouping();

  Dice& dice_;
  const TimestampMs begin_;
};

std::string Writer::number() {
  if (dice_.one_in(30)) return one_of({"NaN", "Inf", "-Inf"});
  return one_of({"0", "1", "2", "3", "0.5", "-1", "10", "1e-3", "0x1F", "1m", "-2.5", "5"});
}

std::string Writer::scalar(int depth) {
  if (depth <= 0 || dice_.one_in(3)) return number();
  switch (dice_.upto(6)) {
    case 0:
      return "time()";
    case 1:
      return one_of({"pi()", "-(time() % 7)", "(time() % 5)"});
    case 2:
      return fmt::format("({} {} {})", scalar(depth - 1), arithmetic(), scalar(depth - 1));
    case 3:
      return fmt::format("({} {} bool {})", scalar(depth - 1), comparison(), scalar(depth - 1));
    case 4:
      return fmt::format("-({})", scalar(depth - 1));
    case 5:
      return fmt::format("scalar(sum({}))", vector(depth - 1));
    default:
      return fmt::format("scalar({})", vector(depth - 1));
  }
}

std::string Writer::matrix(int depth) {
  if (depth <= 0 || !dice_.one_in(5)) {
    const std::string selector =
        fmt::format("{}[{}]", random_series_selector(dice_), random_range(dice_));
    return selector + random_modifiers(dice_, begin_);
  }
  const std::string step = one_of({"", "30s", "15s", "1m", "45s", "20s", "1m1s", "step()+7s"});
  const std::string range = one_of({"1m", "2m", "3m", "90s", "5m", "1m1s500ms"});
  return fmt::format("({})[{}:{}]", vector(depth - 1), range, step) +
         random_modifiers(dice_, begin_);
}

std::string Writer::range_call(int depth) {
  if (dice_.one_in(12)) {
    return fmt::format("quantile_over_time({}, {})",
                       dice_.one_in(3) ? scalar(depth - 1) : one_of({"0.5", "0.9", "0", "1", "2"}),
                       matrix(depth - 1));
  }
  if (dice_.one_in(12)) {
    return fmt::format("predict_linear({}, {})", matrix(depth - 1),
                       dice_.one_in(3) ? scalar(depth - 1) : one_of({"60", "0", "-30", "1h"}));
  }
  const std::string name = one_of({"rate",
                                   "rate",
                                   "increase",
                                   "delta",
                                   "irate",
                                   "idelta",
                                   "resets",
                                   "changes",
                                   "deriv",
                                   "sum_over_time",
                                   "avg_over_time",
                                   "min_over_time",
                                   "max_over_time",
                                   "count_over_time",
                                   "stddev_over_time",
                                   "stdvar_over_time",
                                   "last_over_time",
                                   "first_over_time",
                                   "present_over_time",
                                   "absent_over_time",
                                   "sum_over_time",
                                   "increase"});
  return fmt::format("{}({})", name, matrix(depth - 1));
}

std::string Writer::instant_call(int depth) {
  switch (dice_.upto(11)) {
    case 0:
      return fmt::format("round({}, {})", vector(depth - 1), one_of({"2", "0.5", "10", "0.1"}));
    case 1:
      return fmt::format("clamp({}, {}, {})", vector(depth - 1), one_of({"0", "-1", "3"}),
                         dice_.one_in(3) ? scalar(depth - 1) : one_of({"2", "10", "4"}));
    case 2:
      return fmt::format("{}({}, {})", one_of({"clamp_min", "clamp_max"}), vector(depth - 1),
                         scalar(depth - 1));
    case 3:
      return fmt::format("vector({})", scalar(depth - 1));
    case 4:
      return fmt::format("timestamp({})", dice_.one_in(2) ? random_series_selector(dice_) +
                                                                random_modifiers(dice_, begin_)
                                                          : vector(depth - 1));
    case 5:
      return one_of({"minute()", "hour()", "day_of_week()", "day_of_month()", "day_of_year()",
                     "days_in_month()", "month()", "year()"});
    case 6:
      return fmt::format("{}({} * {})",
                         one_of({"minute", "hour", "day_of_week", "day_of_month", "day_of_year",
                                 "days_in_month", "month", "year"}),
                         random_series_selector(dice_), one_of({"1e3", "1e6", "123456789"}));
    case 7:
      return fmt::format("absent({})", vector(depth - 1));
    case 8:
      return fmt::format("{}({})", one_of({"sort", "sort_desc"}), vector(depth - 1));
    default:
      return fmt::format(
          "{}({})", one_of({"abs",  "ceil",  "floor", "exp",   "ln",   "log2", "log10", "sqrt",
                            "sin",  "cos",   "tan",   "asin",  "acos", "atan", "sinh",  "cosh",
                            "tanh", "asinh", "acosh", "atanh", "deg",  "rad",  "sgn",   "round"}),
          vector(depth - 1));
  }
}

std::string Writer::label_call(int depth) {
  const std::string target = one_of({"a", "b", "fresh", "c", "__name__", "team"});
  if (dice_.one_in(3)) {
    const Texts sources = some_of(dice_, {R"("a")", R"("b")", R"("__name__")", R"("no")"}, 2);
    return fmt::format("label_join({}, \"{}\", \"{}\"{}{})", vector(depth - 1), target,
                       one_of({"-", "", "/"}), sources.empty() ? "" : ", ",
                       fmt::join(sources, ", "));
  }
  std::string pattern =
      one_of({"(.*)", "(.)(.*)", "([a-z])?(.*)", "1", "", "(x|y)", "m|(n)", "(.+)"});
  if (dice_.one_in(50)) pattern = "(";
  return fmt::format("label_replace({}, \"{}\", \"{}\", \"{}\", \"{}\")", vector(depth - 1),
                     dice_.one_in(50) ? "" : target,
                     one_of({"$1", "x", "$1-$2", "${1}y", "$1x", "$$", "", "$0", "$nothing"}),
                     one_of({"a", "b", "c", "__name__", "no"}), pattern);
}

std::string Writer::histogram_call(int depth) {
  std::string buckets = one_of({"h_bucket", "h_bucket", "rate(h_bucket[2m])",
                                "sum by (le) (h_bucket)", "sum by (a, le) (h_bucket)",
                                "increase(h_bucket[3m])", R"({__name__=~"h_bucket|m"})"});
  if (dice_.one_in(8)) buckets = vector(depth - 1);
  if (dice_.one_in(4)) {
    return fmt::format("histogram_fraction({}, {}, {})", one_of({"0", "-Inf", "0.3", "0.5", "-1"}),
                       one_of({"0.4", "1", "+Inf", "7", "0.2"}), buckets);
  }
  if (dice_.one_in(12)) {
    return fmt::format("{}({})",
                       one_of({"histogram_count", "histogram_sum", "histogram_avg",
                               "histogram_stddev", "histogram_stdvar"}),
                       buckets);
  }
  return fmt::format(
      "histogram_quantile({}, {})",
      dice_.one_in(6) ? scalar(depth - 1) : one_of({"0.5", "0.9", "0", "1", "0.99", "-1", "1.5"}),
      buckets);
}

std::string Writer::grouping() {
  if (dice_.one_in(5)) return "";
  Texts labels = some_of(dice_, {"a", "b", "c", "le"}, 2);
  if (dice_.one_in(10)) labels.emplace_back("__name__");
  return fmt::format(" {} {} ", one_of({"by", "by", "without"}), list(labels));
}

std::string Writer::aggregation(int depth) {
  const std::string group = grouping();
  if (dice_.one_in(8)) {
    return fmt::format("{}{}({}, {})", one_of({"topk", "bottomk"}), group,
                       one_of({"1", "2", "3", "0", "2.9", "-1", "time() % 4", "100",
                               dice_.one_in(6) ? "NaN" : "1", dice_.one_in(6) ? "1e30" : "2"}),
                       vector(depth - 1));
  }
  if (dice_.one_in(10)) {
    return fmt::format("quantile{}({}, {})", group,
                       dice_.one_in(3) ? scalar(depth - 1) : one_of({"0.5", "0.9", "0", "1", "2"}),
                       vector(depth - 1));
  }
  if (dice_.one_in(12)) {
    return fmt::format("count_values{}(\"{}\", {})", group,
                       dice_.one_in(30) ? "" : one_of({"v", "a", "team"}), vector(depth - 1));
  }
  const std::string name = one_of(
      {"sum", "sum", "sum", "avg", "avg", "min", "max", "count", "group", "stddev", "stdvar"});
  if (dice_.one_in(4)) return fmt::format("{}({}){}", name, vector(depth - 1), group);
  return fmt::format("{}{}({})", name, group, vector(depth - 1));
}

// What stands between an operator and its right side.
std::string Writer::matching() {
  if (dice_.one_in(4)) return " ";
  const bool on = dice_.one_in(2);
  Texts labels = some_of(dice_, {"a", "b", "c", "le"}, on ? 2 : 3);
  if (dice_.one_in(20)) labels.emplace_back("__name__");
  std::string text = fmt::format(" {}{} ", on ? "on" : "ignoring", list(labels));
  if (dice_.one_in(2)) return text;
  Texts included = some_of(dice_, {"team", "b", "c"}, 3);
  if (on) {
    const std::set<std::string> taken(labels.begin(), labels.end());
    std::erase_if(included, [&taken](const std::string& label) { return taken.contains(label); });
  }
  return text + one_of({"group_left", "group_left", "group_right"}) + list(included) + " ";
}

// Two vectors of which the right one has one element for each group.
std::string Writer::partners(int depth) {
  const std::string labels = one_of({"a", "b", "a, b", "", "a, c"});
  std::string left = vector(depth - 1);
  std::string right =
      fmt::format("{} by ({}) ({})", one_of({"sum", "max", "count"}), labels, vector(depth - 1));
  std::string group = "group_left";
  if (dice_.one_in(3)) {
    std::swap(left, right);
    group = "group_right";
  }
  std::string op = arithmetic();
  if (dice_.one_in(3)) op = comparison() + (dice_.one_in(2) ? " bool" : "");
  return fmt::format("({}) {} on({}) {}({}) ({})", left, op, labels, group,
                     dice_.one_in(4) ? "team" : "", right);
}

std::string Writer::set_operation(int depth) {
  std::string match = " ";
  if (dice_.one_in(2)) {
    match = fmt::format(" {}{} ", one_of({"on", "ignoring"}),
                        list(some_of(dice_, {"a", "b", "c", "__name__"}, 2)));
  }
  return fmt::format("({}) {}{}({})", vector(depth - 1), one_of({"and", "or", "unless", "or"}),
                     match, vector(depth - 1));
}

std::string Writer::binary(int depth) {
  const bool compares = dice_.one_in(3);
  const std::string op = compares ? comparison() + (dice_.one_in(2) ? " bool" : "") : arithmetic();
  switch (dice_.upto(6)) {
    case 0:
    case 1:
      return partners(depth);
    case 2:
      return set_operation(depth);
    case 3:
      return fmt::format("({}) {}{}({})", vector(depth - 1), op, matching(), vector(depth - 1));
    case 4:
      // Without parentheses: which sides belong together is the parser's matter.
      return fmt::format("{} {} {} {} {}", scalar(depth - 1), arithmetic(),
                         random_series_selector(dice_), arithmetic(), scalar(depth - 1));
    case 5:
      return fmt::format("{} {} ({})", scalar(depth - 1), op, vector(depth - 1));
    default:
      return fmt::format("({}) {} {}", vector(depth - 1), op, scalar(depth - 1));
  }
}

std::string Writer::vector(int depth) {
  if (depth <= 0) return random_series_selector(dice_) + random_modifiers(dice_, begin_);
  switch (dice_.upto(15)) {
    case 0:
    case 1:
    case 2:
      return range_call(depth);
    case 3:
    case 4:
      return instant_call(depth);
    case 5:
      return label_call(depth);
    case 6:
      return histogram_call(depth);
    case 7:
    case 8:
    case 9:
      return aggregation(depth);
    case 10:
    case 11:
    case 12:
      return binary(depth);
    case 13:
      return fmt::format("{}({})", one_of({"-", "+", ""}), vector(depth - 1));
    default:
      return random_series_selector(dice_) + random_modifiers(dice_, begin_);
  }
}

}  // namespace

std::vector<ReferenceSeries> random_series(Dice& dice, TimestampMs begin) {
  const Habits habits{.step = 1000 * dice.of<std::int64_t>({10, 15, 30, 30, 60}),
                      .unsteady = dice.one_in(3),
                      .regular = dice.one_in(3),
                      .clean = dice.one_in(2)};
  std::vector<ReferenceSeries> all;
  const auto put = [&](const std::string& name, ReferenceLabels labels, bool counter) {
    labels["__name__"] = name;
    std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
    all.push_back({std::move(labels), random_samples(dice, habits, begin, counter)});
  };
  for (const std::string& name : Texts{"m", "n", "c_total"}) {
    std::set<ReferenceLabels> made;
    for (std::int64_t i = dice.upto(5); i >= 0; --i) {
      ReferenceLabels labels = {{"a", dice.of<std::string>({"1", "2", "3"})},
                                {"b", dice.of<std::string>({"x", "y", ""})}};
      if (name == "n") labels["c"] = dice.of<std::string>({"1", "2", ""});
      if (made.insert(labels).second) put(name, labels, name == "c_total");
    }
  }
  for (const std::string& a : Texts{"1", "2"}) {
    put("i", {{"a", a}, {"team", dice.of<std::string>({"red", "blue"})}}, false);
    std::vector<std::string> bounds = {"0.1", "0.5", "1", "5"};
    if (!dice.one_in(8)) bounds.emplace_back("+Inf");
    if (dice.one_in(6)) bounds.emplace_back("1.0");
    if (dice.one_in(6)) bounds.emplace_back("x");
    if (dice.one_in(6)) bounds.emplace_back("-1");
    for (const std::string& bound : bounds) put("h_bucket", {{"a", a}, {"le", bound}}, true);
  }
  std::erase_if(all, [](const ReferenceSeries& series) { return series.samples.empty(); });
  return all;
}

std::string random_expression(Dice& dice, TimestampMs begin, bool any_type) {
  Writer writer(dice, begin);
  const int depth = 1 + static_cast<int>(dice.upto(kDepthMax - 1));
  if (any_type && dice.one_in(20)) return writer.matrix(depth);
  if (any_type && dice.one_in(200)) return R"("a text")";
  if (dice.one_in(12)) return writer.scalar(depth);
  return writer.vector(depth);
}

}  // namespace halite::query::promql
