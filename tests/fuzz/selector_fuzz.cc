// A selector of series: what parses has matchers that agree with their filters of tags.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/bytes/utf8.h"
#include "common/check.h"
#include "query/selector/selector.h"
#include "storage/api/tag_filter.h"

namespace halite::query {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto selector = parse_selector(text, {.bytes_max = 1024});
  if (!selector) {
    HALITE_CHECK(!selector.error().message.empty(), "a refusal says why");
    return 0;
  }
  bool accepts_all = true;
  for (const LabelMatcher& matcher : selector->matchers) {
    HALITE_CHECK(!matcher.name().empty() && is_utf8(matcher.name()), "labels have names");
    HALITE_CHECK(is_utf8(matcher.value()), "values are text");
    accepts_all = accepts_all && matcher.matches_absent();
    const auto filter = matcher.tag_filter();
    HALITE_CHECK(filter.has_value() != matcher.matches_absent(), "a filter wants a value");
    if (!filter) continue;
    const auto compiled = storage::TagMatcher::compile(*filter, storage::Regexps(2 << 20));
    HALITE_CHECK(compiled.has_value(), "a filter compiles where its matcher did");
    const std::array<std::string_view, 5> values = {matcher.value(), "a", "ab\ncd", "0", "\u00e4"};
    for (const std::string_view value : values) {
      HALITE_CHECK(value.empty() || !matcher.matches(value) || (*compiled)->matches(value),
                   "a filter passes what its matcher accepts");
    }
  }
  HALITE_CHECK(!accepts_all, "not all series by accident");
  const std::string* const metric = selector->metric();
  if (metric != nullptr && selector->matches_metric(*metric)) {
    HALITE_CHECK(!selector->matches_metric(*metric + "x"), "one metric");
  }
  return 0;
}

}  // namespace halite::query
