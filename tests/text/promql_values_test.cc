// Runs tests/text/promql_values/*.promql: samples, expressions and their values; each file on every
// row layout.
//
// A line that begins in the first column asks or loads; '#' comments. HALITE_UPDATE=1 writes the
// answers that the code gives: read that diff like code.
//
//   experimental                 later stores allow experimental functions
//   load STEP                    an empty store; STEP as in PromQL
//   + SERIES VALUE...            a value at 0, STEP, ...: a number, `_` (none), `stale`, `5x3` (5
//                                and three more), `1+2x3` (1 3 5 7)
//   at TIME EXPRESSION           seconds
//   range BEGIN END STEP EXPRESSION
//   chain TIME COUNT OPERATOR OPERAND   COUNT equal operands
//
// Answers: one line for each element, values with seven digits, VALUE@TIME in a range; "! MESSAGE",
// with "bad expression: " before those of the parser; "warning: ..", "info: ..".
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "query/promql/parse.h"
#include "tests/support/query_world.h"
#include "tests/text/answers_file.h"

namespace halite::query {
namespace {

using test::QueryLayout;
using test::QueryWorld;

[[noreturn]] void bad(const std::string& what) { throw std::runtime_error(what); }

TimestampMs time_of(const std::string& seconds) {
  return static_cast<TimestampMs>(std::llround(std::stod(seconds) * 1000));
}

std::string rest_of(std::istringstream& in) {
  std::string rest;
  std::getline(in >> std::ws, rest);
  return rest;
}

// "metric key=value ..." of metric{key="value",..}.
std::string series_of(std::string_view text) {
  const auto selector = promql::parse_series_selector(text, {});
  if (!selector) bad(selector.error().message);
  std::string series(*selector->metric());
  for (const LabelMatcher& matcher : selector->matchers) {
    if (matcher.name() == kMetricLabel) continue;
    series += fmt::format(" {}={}", matcher.name(), matcher.value());
  }
  return series;
}

std::string value_text(double value) { return fmt::format("{:.7g}", value); }

std::string labels_text(const promql::Labels& labels) {
  std::string text(labels.get(kMetricLabel));
  std::string pairs;
  for (const promql::Label& label : labels) {
    if (label.name == kMetricLabel) continue;
    pairs += fmt::format("{}{}=\"{}\"", pairs.empty() ? "" : ",", label.name, label.value);
  }
  if (!pairs.empty() || text.empty()) text += fmt::format("{{{}}}", pairs);
  return text;
}

class Script {
 public:
  explicit Script(QueryLayout layout) : layout_(layout) {
    limits_.bytes_max = std::uint64_t{64} << 20;
  }

  Lines answered(const Lines& lines) {
    Lines out;
    for (const std::string& line : lines) {
      if (is_answer(line)) continue;
      out.push_back(line);
      if (line.empty() || line.starts_with('#')) continue;
      for (const std::string& answer : take(line)) out.push_back("  " + answer);
    }
    return out;
  }

 private:
  Lines take(const std::string& line) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    if (verb == "load") {
      const auto step = promql::parse(rest_of(in), {});
      if (!step) bad(step.error().message);
      step_ms_ = time_of(fmt::format("{}", std::get<promql::NumberLiteral>((*step)->node).value));
      world_ = std::make_unique<QueryWorld>(layout_, limits_);
      return {};
    }
    if (verb == "experimental") {
      limits_.promql.experimental = true;
      return {};
    }
    if (verb == "+") {
      add_series(rest_of(in));
      return {};
    }
    PromqlQuestion question;
    std::string begin;
    std::string end;
    std::string step;
    in >> begin;
    question.steps.begin = time_of(begin);
    if (verb == "range") {
      in >> end >> step;
      question.range = true;
      question.steps.step_ms = time_of(step);
      question.steps.count = static_cast<std::size_t>(
          (time_of(end) - question.steps.begin) / question.steps.step_ms + 1);
    } else if (verb == "chain") {
      question.expression = chain_of(in);
      return ask(std::move(question));
    } else if (verb != "at") {
      bad("not understood: " + line);
    }
    question.expression = rest_of(in);
    return ask(std::move(question));
  }

  static std::string chain_of(std::istringstream& in) {
    std::size_t count = 0;
    std::string operator_text;
    in >> count >> operator_text;
    const std::string operand = rest_of(in);
    std::string chain = operand;
    for (std::size_t i = 1; i < count; ++i) chain += fmt::format(" {} {}", operator_text, operand);
    return chain;
  }

  void add_series(const std::string& text) {
    const std::size_t brace = text.find('}');
    const std::size_t end = text.find(' ', brace == std::string::npos ? 0 : brace);
    const std::string series = series_of(text.substr(0, end));
    std::istringstream values(text.substr(end));
    TimestampMs time = 0;
    for (std::string value; values >> value;) {
      if (value == "_") {
        time += step_ms_;
        continue;
      }
      if (value == "stale") {
        put(series, time, kStaleMarker);
        continue;
      }
      std::size_t read = 0;
      double first = std::stod(value, &read);
      double change = 0;
      int more = 0;
      if (read < value.size() && value[read] != 'x') {
        value.erase(0, read);
        change = std::stod(value, &read);
      }
      if (read < value.size()) more = std::stoi(value.substr(read + 1));
      for (int i = 0; i <= more; ++i, first += change) put(series, time, double_bits(first));
    }
  }

  void put(const std::string& series, TimestampMs& time, ValueBits bits) {
    world_->put(series, time, bits, true);
    time += step_ms_;
  }

  Lines ask(PromqlQuestion question) {
    const bool range = question.range;
    const auto answer = world_->ask_promql(std::move(question));
    if (!answer) {
      const bool of_parser = answer.error().details == kBadExpression;
      return {fmt::format("! {}{}", of_parser ? "bad expression: " : "", answer.error().message)};
    }
    Lines lines;
    std::visit([&](const auto& value) { print(value, (*answer)->steps, range, lines); },
               (*answer)->value);
    if (lines.empty()) lines.emplace_back("nothing");
    for (const std::string& text : (*answer)->warnings) lines.push_back("warning: " + text);
    for (const std::string& text : (*answer)->infos) lines.push_back("info: " + text);
    return lines;
  }

  static std::string column_text(const std::vector<double>& values, promql::Steps steps,
                                 bool range) {
    std::string text;
    for (std::size_t i = 0; i < steps.count; ++i) {
      if (promql::is_absent(values[i])) continue;
      text += ' ' + value_text(values[i]);
      if (range) text += fmt::format("@{}", static_cast<double>(steps.at(i)) / 1000);
    }
    return text;
  }
  static void print(const promql::Scalar& scalar, promql::Steps steps, bool range, Lines& lines) {
    lines.push_back("scalar" + column_text(scalar.values, steps, range));
  }
  static void print(const std::string& text, promql::Steps, bool, Lines& lines) {
    lines.push_back(fmt::format("string \"{}\"", text));
  }
  static void print(const promql::Vector& vector, promql::Steps steps, bool range, Lines& lines) {
    for (const promql::Row& row : vector.rows) {
      lines.push_back(labels_text(row.labels) + column_text(row.values, steps, range));
    }
  }
  static void print(const promql::Matrix& matrix, promql::Steps, bool, Lines& lines) {
    for (const promql::MatrixRow& row : matrix.rows) {
      std::string text = labels_text(row.labels);
      for (std::size_t i = 0; i < row.times.size(); ++i) {
        text += fmt::format(" {}@{}", value_text(row.values[i]),
                            static_cast<double>(row.times[i]) / 1000);
      }
      lines.push_back(text);
    }
  }

  const QueryLayout layout_;
  QueryLimits limits_;
  std::unique_ptr<QueryWorld> world_;
  std::int64_t step_ms_ = 0;
};

class PromqlValues : public testing::TestWithParam<QueryLayout> {};

TEST_P(PromqlValues, AreThoseOfTheFiles) {
  const auto files = answers_files("promql_values", ".promql");
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) {
    check_answers_file(file, [](const Lines& lines) { return Script(GetParam()).answered(lines); });
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, PromqlValues,
                         testing::Values(QueryLayout::kOpentsdb, QueryLayout::kOpentsdbSalted,
                                         QueryLayout::kCyclic));

}  // namespace
}  // namespace halite::query
