#include "query/selector/selector.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "query/selector/lexer.h"

namespace halite::query {
namespace {

std::string shown(const SelectorToken& token) {
  return token.kind == SelectorTokenKind::kEnd ? "the end" : fmt::format("\"{}\"", token.text);
}

class SelectorParser {
 public:
  SelectorParser(std::string_view text, const SelectorLimits& limits)
      : lexer_(text), limits_(limits) {}

  Result<Selector> parse();

 private:
  Result<void> advance() {
    TRY(token_, lexer_.next());
    return {};
  }
  [[nodiscard]] bool at(std::string_view symbol) const {
    return token_.kind == SelectorTokenKind::kSymbol && token_.text == symbol;
  }
  [[nodiscard]] std::unexpected<Error> wants(std::string_view what) const {
    return selector_error(token_.at, fmt::format("wants {}, not {}", what, shown(token_)));
  }
  Result<void> set_metric(std::string name, std::size_t at);
  Result<void> matcher();
  Result<MatchKind> kind();
  Result<void> add(std::string name, MatchKind kind, std::string value, std::size_t at);

  SelectorLexer lexer_;
  const SelectorLimits& limits_;
  SelectorToken token_;
  Selector selector_;
  bool has_metric_ = false;  // by its place, not by a matcher
};

Result<void> SelectorParser::add(std::string name, MatchKind kind, std::string value,
                                 std::size_t at) {
  auto made = LabelMatcher::make(std::move(name), kind, std::move(value), limits_.regexps);
  if (!made) {
    return fail(made.error().code, fmt::format("byte {}: {}", at, made.error().message));
  }
  selector_.matchers.push_back(*std::move(made));
  return {};
}

Result<void> SelectorParser::set_metric(std::string name, std::size_t at) {
  if (std::exchange(has_metric_, true)) return selector_error(at, "a second name of the metric");
  if (name.empty()) return selector_error(at, "the name of the metric is empty");
  return add(std::string(kMetricLabel), MatchKind::kEqual, std::move(name), at);
}

Result<MatchKind> SelectorParser::kind() {
  for (const MatchKind kind :
       {MatchKind::kEqual, MatchKind::kNotEqual, MatchKind::kRegexp, MatchKind::kNotRegexp}) {
    if (!at(match_symbol(kind))) continue;
    TRY_VOID(advance());
    return kind;
  }
  return wants("=, !=, =~ or !~");
}

// name="value", "name"="value", or "metric".
Result<void> SelectorParser::matcher() {
  const std::size_t begin = token_.at;
  std::string name;
  const bool quoted = token_.kind == SelectorTokenKind::kString;
  if (quoted) {
    name = std::move(token_.value);
  } else if (token_.kind == SelectorTokenKind::kName) {
    name = token_.text;
    if (name.contains(':')) return wants("a label, whose name has no ':' without quotes");
  } else {
    return wants("a label or }");
  }
  TRY_VOID(advance());
  if (quoted && (at(",") || at("}"))) return set_metric(std::move(name), begin);
  if (name.empty()) return selector_error(begin, "the name of the label is empty");
  TRY(const MatchKind how, kind());
  if (token_.kind != SelectorTokenKind::kString) return wants("a value in quotes");
  if (has_metric_ && name == kMetricLabel && how == MatchKind::kEqual) {
    return selector_error(begin, "a second name of the metric");
  }
  TRY_VOID(add(std::move(name), how, std::move(token_.value), token_.at));
  return advance();
}

Result<Selector> SelectorParser::parse() {
  TRY_VOID(advance());
  if (token_.kind == SelectorTokenKind::kName) {
    TRY_VOID(set_metric(std::string(token_.text), token_.at));
    TRY_VOID(advance());
    if (token_.kind == SelectorTokenKind::kEnd) return std::move(selector_);
  }
  if (!at("{")) return wants(has_metric_ ? "{ or the end" : "the name of a metric, or {");
  const std::size_t brace = token_.at;
  TRY_VOID(advance());
  while (!at("}")) {
    TRY_VOID(matcher());
    if (at("}")) break;
    if (!at(",")) return wants(", or }");
    TRY_VOID(advance());
  }
  TRY_VOID(advance());
  if (token_.kind != SelectorTokenKind::kEnd) return wants("the end");
  if (std::ranges::all_of(selector_.matchers, &LabelMatcher::matches_absent)) {
    return selector_error(brace,
                          "all matchers accept the empty value, so that the selector would name "
                          "all series; if you want these, write {__name__!=\"\"}");
  }
  return std::move(selector_);
}

}  // namespace

const std::string* Selector::metric() const {
  for (const LabelMatcher& matcher : matchers) {
    if (matcher.name() == kMetricLabel && matcher.kind() == MatchKind::kEqual) {
      return &matcher.value();
    }
  }
  return nullptr;
}

bool Selector::matches_metric(std::string_view metric) const {
  return std::ranges::all_of(matchers, [metric](const LabelMatcher& matcher) {
    return matcher.name() != kMetricLabel || matcher.matches(metric);
  });
}

bool Selector::matches_tags(const storage::SeriesTags& tags) const {
  return std::ranges::all_of(matchers, [&tags](const LabelMatcher& matcher) {
    if (matcher.name() == kMetricLabel) return true;
    const auto tag = std::ranges::find(tags, matcher.name(), &storage::SeriesTag::key);
    return matcher.matches(tag == tags.end() ? std::string_view() : tag->value);
  });
}

std::vector<storage::TagFilter> Selector::tag_filters() const {
  std::vector<storage::TagFilter> filters;
  for (const LabelMatcher& matcher : matchers) {
    if (matcher.name() == kMetricLabel) continue;
    if (auto filter = matcher.tag_filter()) filters.push_back(*std::move(filter));
  }
  return filters;
}

bool Selector::filters_are_exact() const {
  for (const LabelMatcher& matcher : matchers) {
    if (matcher.name() == kMetricLabel) continue;
    // Several filters of one key may mean that one of them suffices.
    if (std::ranges::count(matchers, matcher.name(), &LabelMatcher::name) > 1) return false;
    if (matcher.kind() == MatchKind::kNotRegexp || matcher.matches_absent()) return false;
  }
  return true;
}

Result<Selector> parse_selector(std::string_view text, const SelectorLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return fail(Errc::kTooLarge, fmt::format("the selector has {} bytes, more than {} "
                                             "(query.expression_bytes_max)",
                                             text.size(), limits.bytes_max));
  }
  return SelectorParser(text, limits).parse();
}

}  // namespace halite::query
