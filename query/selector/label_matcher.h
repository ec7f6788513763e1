// A condition on one label of a series, as in PromQL: a="b", a!="b", a=~"b.*", a!~"b.*".
//
// A label that a series does not have is equal to one with the empty value. Regular expressions are
// RE2's, match the whole value, and "." also matches a line feed. The metric is the label __name__.
//
//   Threads  matches() may run on any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "storage/api/regexps.h"
#include "storage/api/tag_filter.h"

namespace halite::query {

inline constexpr std::string_view kMetricLabel = "__name__";

enum class MatchKind : std::uint8_t { kEqual, kNotEqual, kRegexp, kNotRegexp };

[[nodiscard]] std::string_view match_symbol(MatchKind kind);  // "=", "!=", "=~", "!~"

class LabelMatcher {
 public:
  // Errors as Regexps::compile(). Name and value are UTF-8.
  [[nodiscard]] static Result<LabelMatcher> make(std::string name, MatchKind kind,
                                                 std::string value,
                                                 const storage::Regexps& regexps);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] MatchKind kind() const { return kind_; }
  [[nodiscard]] const std::string& value() const { return value_; }  // or the regular expression

  // `value` is "" if the series does not have the label.
  [[nodiscard]] bool matches(std::string_view value) const;
  // Whether series without the label match.
  [[nodiscard]] bool matches_absent() const { return matches({}); }

  // A filter that all series pass which this matcher accepts, for a store to find them fast. None:
  // series without the label match, too.
  [[nodiscard]] std::optional<storage::TagFilter> tag_filter() const;

 private:
  LabelMatcher() = default;

  std::string name_;
  MatchKind kind_ = MatchKind::kEqual;
  std::string value_;
  std::shared_ptr<const re2::RE2> regexp_;  // null unless the kind is one of the last two
};

}  // namespace halite::query
