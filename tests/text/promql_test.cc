// Runs tests/text/promql/*.promql: how expressions of PromQL are read and written.
//
// A line in the first column asks, the indented lines under it answer; '#' comments. ¶ stands for a
// line feed, ‹ff› for a byte.
//
//   experimental on|off   experimental functions
//   limits BYTES DEPTH REGEXP_BYTES
//   print EXPRESSION      in one line; says if that reads as another expression
//   pretty EXPRESSION     over several lines
//   json EXPRESSION       as a tree
//   type EXPRESSION
//   at EXPRESSION         the bytes of its operands, or of itself
//   match SELECTOR        its matchers
//   resolve STEP_MS RANGE_MS EXPRESSION   its range, step and offset in milliseconds
//   errors EXPRESSION     the message alone, without "LINE:COLUMN: parse error: "
//
// Answers are "refused: ...", "too large: ...", or what was asked for.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/bytes/ascii.h"
#include "query/promql/parse.h"
#include "query/promql/print.h"
#include "query/selector/label_matcher.h"
#include "tests/text/answers_file.h"

namespace halite::query::promql {
namespace {

constexpr std::string_view kLineFeed = "¶";
constexpr std::string_view kByteBegin = "‹";
constexpr std::string_view kByteEnd = "›";

// The text that a question stands for.
std::string text_of(std::string_view question) {
  std::string text;
  while (!question.empty()) {
    if (question.starts_with(kLineFeed)) {
      text += '\n';
      question.remove_prefix(kLineFeed.size());
    } else if (question.starts_with(kByteBegin)) {
      question.remove_prefix(kByteBegin.size());
      text += static_cast<char>(hex_digit(question[0]) * 16 + hex_digit(question[1]));
      question.remove_prefix(2 + kByteEnd.size());
    } else {
      text += question.front();
      question.remove_prefix(1);
    }
  }
  return text;
}

std::string refusal(const Error& error) {
  return fmt::format("{}: {}", error.code == Errc::kTooLarge ? "too large" : "refused",
                     error.message);
}

Lines lines_of(std::string_view text) {
  Lines lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// Takes the word before the next blank.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

std::int64_t take_number(std::string_view& text) {
  const std::string_view word = take_word(text);
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || stop != word.data() + word.size()) {
    throw std::runtime_error(fmt::format("not a number: {}", word));
  }
  return number;
}

class Asker {
 public:
  // No answer: a setting.
  Lines answer(std::string_view question) {
    const std::string_view what = take_word(question);
    if (what == "experimental") {
      options_.experimental = question == "on";
      return {};
    }
    if (what == "limits") {
      options_.bytes_max = static_cast<std::size_t>(take_number(question));
      options_.depth_max = static_cast<std::size_t>(take_number(question));
      options_.regexps = storage::Regexps(static_cast<std::size_t>(take_number(question)));
      return {};
    }
    if (what == "match") return match(text_of(question));
    std::int64_t step_ms = 0;
    std::int64_t range_ms = 0;
    if (what == "resolve") {
      step_ms = take_number(question);
      range_ms = take_number(question);
    }
    const std::string text = text_of(question);
    auto parsed = parse(text, options_);
    if (!parsed) return {what == "errors" ? bare(parsed.error()) : refusal(parsed.error())};
    if (what == "print") return printed(**parsed);
    if (what == "pretty") {
      const auto lines = pretty(**parsed);
      return lines ? lines_of(*lines) : Lines{refusal(lines.error())};
    }
    if (what == "json") return {tree_json(**parsed)};
    if (what == "type") return {std::string(type_name((*parsed)->type))};
    if (what == "at") return {positions(**parsed)};
    if (what == "resolve") return resolved(**parsed, step_ms, range_ms);
    if (what == "errors") return {"no error"};
    throw std::runtime_error(fmt::format("not a question: {}", what));
  }

 private:
  static std::string bare(const Error& error) {
    constexpr std::string_view kMark = "parse error: ";
    const std::size_t at = error.message.find(kMark);
    return at == std::string::npos ? refusal(error) : error.message.substr(at + kMark.size());
  }

  // Without the parentheses of durations, of which printing adds some; matchers have no order.
  static std::string tree(const Expr& expr) {
    constexpr std::string_view kWrapped = R"("wrapped":true)";
    std::string json = tree_json(expr);
    for (auto at = json.find(kWrapped); at != std::string::npos; at = json.find(kWrapped, at)) {
      json.replace(at, kWrapped.size(), R"("wrapped":false)");
    }
    std::ranges::sort(json);
    return json;
  }

  Lines printed(const Expr& expr) const {
    const std::string text = print(expr);
    const auto again = parse(text, options_);
    if (!again) return {text, "read again: " + again.error().message};
    if (tree(**again) != tree(expr)) return {text, "read again: " + print(**again)};
    return {text};
  }

  Lines match(const std::string& text) const {
    const auto selector = parse_series_selector(text, options_);
    if (!selector) return {refusal(selector.error())};
    Lines lines;
    for (const LabelMatcher& matcher : selector->matchers) {
      lines.push_back(
          fmt::format("{} {} {}", matcher.name(), match_symbol(matcher.kind()), matcher.value()));
    }
    return lines;
  }

  static std::string position(const Expr& expr) {
    return fmt::format("{}-{}", expr.at.begin, expr.at.end);
  }
  static std::string positions(const Expr& expr) {
    if (const auto* const binary = std::get_if<Binary>(&expr.node)) {
      return position(*binary->left) + ' ' + position(*binary->right);
    }
    std::string all;
    if (const auto* const call = std::get_if<Call>(&expr.node)) {
      for (const ExprPtr& argument : call->arguments) all += position(*argument) + ' ';
    }
    return all + position(expr);
  }

  static Lines resolved(Expr& expr, std::int64_t step_ms, std::int64_t range_ms) {
    if (const auto done = resolve_durations(expr, step_ms, range_ms); !done) {
      return {refusal(done.error())};
    }
    const Expr* inner = &expr;
    while (const auto* const call = std::get_if<Call>(&inner->node)) {
      inner = call->arguments.back().get();
    }
    if (const auto* const selector = std::get_if<VectorSelector>(&inner->node)) {
      return {fmt::format("offset {}", selector->time.offset.ms)};
    }
    if (const auto* const matrix = std::get_if<MatrixSelector>(&inner->node)) {
      return {fmt::format("range {} offset {}", matrix->range.ms, matrix->selector.time.offset.ms)};
    }
    if (const auto* const subquery = std::get_if<Subquery>(&inner->node)) {
      return {fmt::format("range {} step {} offset {}", subquery->range.ms, subquery->step.ms,
                          subquery->time.offset.ms)};
    }
    return {"no durations"};
  }

  ParseOptions options_;
};

// The file as it should be.
Lines answered(const Lines& lines) {
  Asker asker;
  Lines out;
  for (const std::string& line : lines) {
    if (is_answer(line)) continue;
    out.push_back(line);
    if (line.empty() || line.starts_with('#')) continue;
    for (const std::string& answer : asker.answer(line)) out.push_back("  " + answer);
  }
  return out;
}

class PromqlFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PromqlFile, SaysHowExpressionsAreRead) { check_answers_file(GetParam(), answered); }

INSTANTIATE_TEST_SUITE_P(Promql, PromqlFile, testing::ValuesIn(answers_files("promql", ".promql")),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace halite::query::promql
