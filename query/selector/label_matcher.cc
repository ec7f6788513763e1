#include "query/selector/label_matcher.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

namespace halite::query {
namespace {

// RE2 also knows \C, one byte of a character. Prometheus does not, and such a byte is no text.
bool has_byte_escape(std::string_view pattern) {
  for (std::size_t at = pattern.find('\\'); at + 1 < pattern.size() && at < pattern.size();
       at = pattern.find('\\', at + 2)) {
    if (pattern[at + 1] == 'C') return true;
  }
  return false;
}

}  // namespace

std::string_view match_symbol(MatchKind kind) {
  static constexpr auto kSymbols = std::to_array<std::string_view>({"=", "!=", "=~", "!~"});
  return kSymbols[static_cast<std::size_t>(kind)];
}

Result<LabelMatcher> LabelMatcher::make(std::string name, MatchKind kind, std::string value,
                                        const storage::Regexps& regexps) {
  LabelMatcher matcher;
  if (kind == MatchKind::kRegexp || kind == MatchKind::kNotRegexp) {
    if (has_byte_escape(value)) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("bad regular expression \"{}\" for {}: invalid escape sequence: \\C",
                              value, name));
    }
    TRY(matcher.regexp_, regexps.compile(value, name, storage::Regexps::Dot::kAnything));
  }
  matcher.name_ = std::move(name);
  matcher.kind_ = kind;
  matcher.value_ = std::move(value);
  return matcher;
}

bool LabelMatcher::matches(std::string_view value) const {
  switch (kind_) {
    case MatchKind::kEqual:
      return value == value_;
    case MatchKind::kNotEqual:
      return value != value_;
    default:
      break;
  }
  const bool found = re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *regexp_);
  return found == (kind_ == MatchKind::kRegexp);
}

std::optional<storage::TagFilter> LabelMatcher::tag_filter() const {
  using storage::FilterType;
  if (matches_absent()) return std::nullopt;
  switch (kind_) {
    case MatchKind::kEqual:
      if (!value_.contains('|')) {
        return storage::TagFilter{.type = FilterType::kLiteralOr, .key = name_, .pattern = value_};
      }
      return storage::TagFilter{.type = FilterType::kRegexp,
                                .key = name_,
                                .pattern = '^' + re2::RE2::QuoteMeta(value_) + '$'};
    case MatchKind::kRegexp:
      return storage::TagFilter{
          .type = FilterType::kRegexp, .key = name_, .pattern = "^(?s:" + value_ + ")$"};
    default:
      return storage::TagFilter{.type = FilterType::kWildcard, .key = name_, .pattern = "*"};
  }
}

}  // namespace halite::query
