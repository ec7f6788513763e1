// An expression of PromQL: what parses is printed as a text that parses to the same text again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/bytes/ascii.h"
#include "common/check.h"
#include "query/promql/parse.h"
#include "query/promql/print.h"

namespace halite::query::promql {
namespace {

constexpr std::size_t kDepthMax = 50;

// Times that far from 1970 are not printed to the millisecond.
bool has_far_time(std::string_view text) {
  for (std::size_t at = text.find("@ "); at != std::string_view::npos; at = text.find("@ ", at)) {
    at += 2;
    if (at < text.size() && text[at] == '-') ++at;
    if (count_digits(text.substr(at)) > 12) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  ParseOptions options;
  options.bytes_max = 4096;
  options.depth_max = kDepthMax;
  options.experimental = data[0] % 2 == 1;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  auto parsed = parse(text, options);
  if (!parsed) {
    HALITE_CHECK(!parsed.error().message.empty(), "a refusal says why");
    return 0;
  }
  const std::string once = print(**parsed);
  const Result<std::string> lines = pretty(**parsed);
  HALITE_CHECK(lines ? !lines->empty() : lines.error().code == Errc::kTooLarge, "it has lines");
  HALITE_CHECK(!tree_json(**parsed).empty(), "it has a tree");
  if (!has_far_time(once)) {
    // Numbers may be longer than they were, and offsets have parentheses.
    options.bytes_max = 1 << 24;
    options.depth_max = 2 * kDepthMax;
    const auto again = parse(once, options);
    HALITE_CHECK(again.has_value(), "the printed text parses");
    HALITE_CHECK(print(**again) == once, "it prints the same");
    if (lines) {
      const auto broken = parse(*lines, options);
      HALITE_CHECK(broken.has_value() && print(**broken) == once, "so do its lines");
    }
  }
  if (const auto resolved = resolve_durations(**parsed, 15'000, 3'600'000); !resolved) {
    HALITE_CHECK(!resolved.error().message.empty(), "a refusal says why");
  }
  return 0;
}

}  // namespace halite::query::promql
