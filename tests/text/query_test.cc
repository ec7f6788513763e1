// Runs tests/text/query/*.query: points, questions, answers; each file on every row layout.
//
// A line that begins in the first column asks or puts; '#' comments. HALITE_UPDATE=1 writes the
// answers that the code gives: read that diff like code.
//
//   points from TIME every D     an empty store with these points: indented lines of
//     METRIC KEY=VALUE... VALUE...      one value a step; `_` is a gap, `1*24` is 24 times 1;
//                                       with a dot or an exponent it is a double
//   points at TIME               METRIC KEY=VALUE... OFFSET:VALUE...   seconds, or 250ms, after
//   TIME also from|at ...             the same, added to what is there zone NAME the server's zone
//   for what follows ask START to END [FLAG...] M...   as /api/query?start=..&end=..&m=..; a FLAG
//   in brackets is a
//                                parameter ([ms], [timezone=UTC]), [tags] shows names and tags,
//                                tsuid=.. is one
//   post JSON                    as a body
//
// Answers: TIME=VALUE, six a line. More than one series, or none of it, shows names and tags:
// METRIC{tags} [aggregated tags]. A refusal is `! STATUS message`.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/java/java_double.h"
#include "query/parse/question_parse.h"
#include "query/parse/time.h"
#include "tests/support/query_world.h"

namespace halite::query {
namespace {

namespace fs = std::filesystem;
using test::QueryLayout;
using test::QueryWorld;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// A file's fault ends its test.
[[noreturn]] void bad(const std::string& what) { throw std::runtime_error(what); }

std::int64_t duration(const std::string& text) {
  const auto parsed = parse_duration(text);
  if (!parsed) bad(parsed.error().message);
  return *parsed;
}

std::string value_text(ValueBits value, bool is_float, bool null_nan) {
  if (!is_float) return std::to_string(as_integer(value));
  if (null_nan && std::isnan(as_double(value))) return "null";
  return java_double(as_double(value));
}

int status_of(Errc code) {
  switch (code) {
    case Errc::kTooLarge:
      return 413;
    default:
      return 400;
  }
}

class Script {
 public:
  explicit Script(QueryLayout layout) : layout_(layout) { reset(); }

  // The lines of the file with the answers that the code gives.
  std::vector<std::string> answered(const std::vector<std::string>& lines) {
    std::vector<std::string> out;
    enum class Under { kNothing, kPoints, kAnswer } under = Under::kNothing;
    for (const std::string& line : lines) {
      const bool indented = line.starts_with(' ');
      if (indented && under == Under::kAnswer) continue;
      out.push_back(line);
      if (line.empty() || line.starts_with('#')) continue;
      if (indented) {
        if (under != Under::kPoints) bad("an indented line under nothing: " + line);
        put_line(line);
        continue;
      }
      const std::vector<std::string> words = words_of(line);
      under = Under::kNothing;
      if (words[0] == "points" || words[0] == "also") {
        begin_points(words);
        under = Under::kPoints;
      } else if (words[0] == "zone") {
        context_zone_ = words.at(1);
      } else {
        for (const std::string& answer : ask_line(line, words)) out.push_back("  " + answer);
        under = Under::kAnswer;
      }
    }
    return out;
  }

 private:
  void reset() { world_ = std::make_unique<QueryWorld>(layout_); }

  ParseContext context() const {
    ParseContext context = world_->context();
    context.timezone = context_zone_;
    return context;
  }

  void begin_points(const std::vector<std::string>& words) {
    if (words[0] == "points") reset();
    const auto base = parse_time(words.at(2), context());
    if (!base) bad(base.error().message);
    base_ = *base;
    step_ = words.at(1) == "from" ? duration(words.at(4)) : 0;
  }

  void put_line(const std::string& line) {
    std::string series;
    TimestampMs time = base_;
    for (const std::string& word : words_of(line)) {
      if (series.empty() || word.contains('=')) {
        series += (series.empty() ? "" : " ") + word;
      } else if (step_ == 0) {
        const std::size_t colon = word.find(':');
        if (colon == std::string::npos) bad("a point without a colon: " + word);
        const std::string offset = word.substr(0, colon);
        put(series,
            base_ + (offset.ends_with("ms") ? std::stoll(offset) : std::stoll(offset) * 1000),
            word.substr(colon + 1));
      } else {
        const std::size_t star = word.find('*');
        const int times = star == std::string::npos ? 1 : std::stoi(word.substr(star + 1));
        for (int i = 0; i < times; ++i, time += step_) put(series, time, word.substr(0, star));
      }
    }
  }

  void put(const std::string& series, TimestampMs time, const std::string& value) {
    if (value == "_") return;
    const bool is_float = value.find_first_of(".eE") != std::string::npos;
    world_->put(series, time,
                is_float ? double_bits(std::stod(value)) : integer_bits(std::stoll(value)),
                is_float);
  }

  std::vector<std::string> ask_line(const std::string& line,
                                    const std::vector<std::string>& words) {
    if (words[0] == "post") {
      auto question = parse_question_json(line.substr(5), {}, context());
      if (!question) return refusal(question.error());
      return run(*std::move(question), false);
    }
    if (words[0] != "ask") bad("not understood: " + line);
    Parameters parameters{{"start", words.at(1)}, {"end", words.at(3)}};
    bool tags = false;
    for (std::size_t i = 4; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word == "[tags]") {
        tags = true;
      } else if (word.starts_with('[')) {
        const std::string flag = word.substr(1, word.size() - 2);
        const std::size_t equals = std::min(flag.find('='), flag.size());
        parameters.emplace_back(flag.substr(0, equals),
                                flag.substr(std::min(equals + 1, flag.size())));
      } else if (word.starts_with("tsuid=")) {
        parameters.emplace_back("tsuid", word.substr(6));
      } else {
        parameters.emplace_back("m", word);
      }
    }
    auto question = parse_question_uri(parameters, context());
    if (!question) return refusal(question.error());
    return run(*std::move(question), tags);
  }

  static std::vector<std::string> refusal(const Error& error) {
    const bool explained = error.code == Errc::kInternal && !error.details.empty();
    return {
        fmt::format("! {} {}", status_of(error.code), explained ? error.details : error.message)};
  }

  std::vector<std::string> run(Question question, bool tags) {
    const auto answer = world_->ask(std::move(question));
    if (!answer) return refusal(answer.error());
    if (answer->series.empty()) return {"no series"};
    std::vector<std::string> lines;
    tags |= answer->series.size() > 1;
    for (const AnswerSeries& series : answer->series) print(*answer, series, tags, lines);
    return lines;
  }

  static void print(const Answer& answer, const AnswerSeries& series, bool tags,
                    std::vector<std::string>& lines) {
    if (tags || series.times.empty()) {
      std::vector<std::string> pairs;
      for (const auto& [key, value] : series.tags)
        pairs.push_back(fmt::format("{}={}", key, value));
      std::string head = fmt::format("{}{{{}}}", series.metric, fmt::join(pairs, ","));
      if (!series.aggregate_tags.empty()) {
        head += fmt::format(" [{}]", fmt::join(series.aggregate_tags, ","));
      }
      if (answer.question.queries.size() > 1) head += fmt::format(" #{}", series.query_index);
      lines.push_back(head);
    }
    const auto& downsample = answer.question.queries[series.query_index].downsample;
    const bool null_nan = downsample && downsample->fill == FillPolicy::kNull;
    const std::int64_t unit = answer.question.ms_resolution ? 1 : 1000;
    std::string line;
    for (std::size_t i = 0; i < series.times.size(); ++i) {
      const std::string pair =
          fmt::format("{}={}", series.times[i] / unit,
                      value_text(series.values[i], series.floats[i], null_nan));
      line += (line.empty() ? "" : "  ") + pair;
      if (i % 6 != 5 && i + 1 < series.times.size()) continue;
      lines.push_back(line);
      line.clear();
    }
    if (series.times.empty()) lines.back() += " no points";
  }

  const QueryLayout layout_;
  std::unique_ptr<QueryWorld> world_;
  std::string context_zone_;
  TimestampMs base_ = 0;
  std::int64_t step_ = 0;
};

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry :
       fs::directory_iterator(fs::path(HALITE_SOURCE_DIR) / "tests/text/query")) {
    if (entry.path().extension() == ".query") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class QueryText : public testing::TestWithParam<std::string> {
 protected:
  void run_on(QueryLayout layout, bool may_update) {
    const fs::path path =
        fs::path(HALITE_SOURCE_DIR) / "tests/text/query" / (GetParam() + ".query");
    const std::vector<std::string> lines = lines_of(path);
    ASSERT_FALSE(lines.empty());
    Script script(layout);
    const std::vector<std::string> answered = script.answered(lines);
    if (may_update && std::getenv("HALITE_UPDATE") != nullptr) {
      std::ofstream(path) << fmt::format("{}\n", fmt::join(answered, "\n"));
      return;
    }
    for (std::size_t i = 0; i < std::max(lines.size(), answered.size()); ++i) {
      const std::string wanted = i < lines.size() ? lines[i] : "the end";
      const std::string found = i < answered.size() ? answered[i] : "the end";
      ASSERT_EQ(found, wanted) << "first difference: line " << i + 1 << " of " << path;
    }
  }
};

TEST_P(QueryText, OpentsdbRows) { run_on(QueryLayout::kOpentsdb, true); }
TEST_P(QueryText, SaltedOpentsdbRows) { run_on(QueryLayout::kOpentsdbSalted, false); }
TEST_P(QueryText, CyclicRows) { run_on(QueryLayout::kCyclic, false); }

INSTANTIATE_TEST_SUITE_P(Files, QueryText, testing::ValuesIn(files()),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace halite::query
