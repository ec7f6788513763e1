// Which series a question wants: OpenTSDB's tag filters, as data and as a compiled test.
//
// Rules and their quirks: docs/differences.md and OpenTSDB 2.4's TagVFilter.
//   Every filter but kNotKey wants the key to be present.
//   All kLiteralOr filters of one key are OR-ed; everything else is AND-ed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

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
  std::string pattern;  // as the user wrote it: "a|b", "web*", "^l.*"
  bool operator==(const TagFilter&) const = default;
};

[[nodiscard]] std::string_view filter_type_name(FilterType type);  // "literal_or", ...

// The values named by a literal filter: "a||b" names a and b.
[[nodiscard]] std::vector<std::string> filter_literals(const TagFilter& filter);

// One compiled filter. Safe to use from several threads.
class TagMatcher {
 public:
  // kInvalidArgument: a regular expression that RE2 refuses, or a pattern without what its type
  // needs. `regexp_bytes_max` bounds the compiled program.
  static Result<std::shared_ptr<const TagMatcher>> compile(const TagFilter& filter,
                                                           std::size_t regexp_bytes_max = 1 << 20);
  virtual ~TagMatcher() = default;
  // Whether a series that carries the filter's key with this value passes.
  [[nodiscard]] virtual bool matches(std::string_view value) const = 0;
};

}  // namespace halite::storage
