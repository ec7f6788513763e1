// OpenTSDB's tag filters, as data and as compiled matchers.
//
// Rules and exceptions: docs/differences.md and OpenTSDB 2.4's TagVFilter.
//   Every filter except kNotKey requires the key.
//   All kLiteralOr filters of one key are OR-ed; all other filters are AND-ed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "storage/api/regexps.h"

namespace halite::storage {

enum class FilterType : std::uint8_t {
  kLiteralOr,
  kILiteralOr,
  kNotLiteralOr,
  kNotILiteralOr,
  kWildcard,
  kIWildcard,
  kRegexp,
  kNotKey,
};

struct TagFilter {
  FilterType type = FilterType::kLiteralOr;
  std::string key;
  std::string pattern;  // as written by the user: "a|b", "web*", "^l.*"
  bool operator==(const TagFilter&) const = default;
};

[[nodiscard]] std::string_view filter_type_name(FilterType type);  // "literal_or", ...

// The values of a literal filter: "a||b" contains a and b.
[[nodiscard]] std::vector<std::string> filter_literals(const TagFilter& filter);

// A compiled filter. Call from any thread.
class TagMatcher {
 public:
  // kInvalidArgument: the pattern is not valid for its type. Others as Regexps::compile().
  static Result<std::shared_ptr<const TagMatcher>> compile(const TagFilter& filter,
                                                           const Regexps& regexps);
  virtual ~TagMatcher() = default;
  // Whether a series with this value of the filter's key matches.
  [[nodiscard]] virtual bool matches(std::string_view value) const = 0;
};

}  // namespace halite::storage
