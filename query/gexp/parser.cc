#include "query/gexp/parser.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/gexp/functions.h"
#include "query/parse/text.h"

namespace halite::query {
namespace {

// Braces of a metric must contain "key=value,..." or nothing. Braces before a colon belong to a
// part, as in "sum:rate{counter,,10}:m".
bool has_good_tags(std::string_view metric) {
  for (std::size_t open = metric.find('{'); open != std::string_view::npos;) {
    const std::size_t close = find_close(metric, open);
    if (close == std::string_view::npos) return false;
    const std::string_view inside = metric.substr(open + 1, close - open - 1);
    const bool of_metric = close + 1 == metric.size() || metric[close + 1] != ':';
    if (of_metric && !inside.empty()) {
      for (const std::string_view pair : split_outside(inside, ',')) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size()) {
          return false;
        }
      }
    }
    open = metric.find('{', close);
  }
  return true;
}

class Parser {
 public:
  Parser(std::string_view text, const ExpressionLimits& limits) : text_(text), limits_(limits) {}

  Result<GexpCall> parse() {
    skip_blanks();
    return call();
  }

 private:
  [[nodiscard]] std::unexpected<Error> fault() const {
    return fail(Errc::kInternal, fmt::format("Failed to parse {}", text_));
  }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  void skip_blanks() {
    while (kJsonBlanks.contains(peek())) ++at_;
  }

  // The length of a function's name before a bracket; 0 = not a call.
  [[nodiscard]] std::size_t name_length() const {
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    std::size_t bracket = end;
    while (bracket < text_.size() && kJsonBlanks.contains(text_[bracket])) ++bracket;
    return bracket < text_.size() && text_[bracket] == '(' ? end - at_ : 0;
  }

  Result<GexpCall> call() {
    if (++depth_ > limits_.depth_max) {
      return fail(Errc::kTooLarge, fmt::format("An expression is nested more than {} deep; reduce "
                                               "the nesting or raise query.expression_depth_max",
                                               limits_.depth_max));
    }
    const std::size_t length = name_length();
    if (length == 0) return fault();
    GexpCall call{
        .function = std::string(text_.substr(at_, length)), .series = {}, .parameters = {}};
    at_ += length;
    skip_blanks();
    ++at_;  // the bracket
    while (true) {
      skip_blanks();
      TRY_VOID(argument(call));
      skip_blanks();
      const char next = peek();
      if (next != ',' && next != ')') return fault();
      ++at_;
      if (next == ')') break;
    }
    if (!is_gexp_function(call.function)) {
      return fail(Errc::kInternal,
                  fmt::format("Function {} has not been implemented", call.function));
    }
    --depth_;
    return call;
  }

  Result<void> argument(GexpCall& into) {
    if (name_length() > 0) {
      TRY(GexpCall nested, call());
      into.series.emplace_back(std::move(nested));
      return {};
    }
    const std::string_view word = read_word();
    if (word.empty()) return fault();
    if (word.front() == '\'' || !word.contains(':')) {
      into.parameters.emplace_back(word);
      return {};
    }
    if (!has_good_tags(word)) return fault();
    into.series.emplace_back(GexpMetric{.text = std::string(word)});
    return {};
  }

  // Reads up to the comma or parenthesis that ends the argument. Ignores those in braces, brackets
  // and quotes. A bracket in braces is literal, as in "{host=regexp([)}".
  std::string_view read_word() {
    const std::size_t begin = at_;
    bool quoted = false;
    int braces = 0;
    int brackets = 0;
    for (; !at_end(); ++at_) {
      const char c = peek();
      if (c == '\'') quoted = !quoted;
      if (quoted) continue;
      if (c == '{') ++braces;
      if (c == '}') --braces;
      if (braces > 0) continue;
      if (c == '[') ++brackets;
      if (c == ']') --brackets;
      if (brackets > 0) continue;
      if (c == ',' || c == '(' || c == ')' || kJsonBlanks.contains(c)) break;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  const ExpressionLimits& limits_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

Result<GexpCall> parse_gexp(std::string_view text, const ExpressionLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return fail(Errc::kTooLarge,
                fmt::format("An expression has {} bytes, at most {} are allowed; shorten it or "
                            "raise query.expression_bytes_max",
                            text.size(), limits.bytes_max));
  }
  return Parser(text, limits).parse();
}

void collect_metrics(const GexpCall& call, std::vector<std::string>& metrics) {
  for (const auto& argument : call.series) {
    if (const auto* metric = std::get_if<GexpMetric>(&argument)) {
      metrics.push_back(metric->text);
    } else {
      collect_metrics(std::get<GexpCall>(argument), metrics);
    }
  }
}

}  // namespace halite::query
