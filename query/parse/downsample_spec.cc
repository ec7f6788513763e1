#include "query/parse/downsample_spec.h"

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/parse/aggregator.h"
#include "query/parse/text.h"
#include "query/parse/time.h"

namespace halite::query {
namespace {

constexpr std::array<std::pair<std::string_view, FillPolicy>, 5> kFillPolicies = {{
    {"none", FillPolicy::kNone},
    {"nan", FillPolicy::kNan},
    {"null", FillPolicy::kNull},
    {"zero", FillPolicy::kZero},
    {"scalar", FillPolicy::kScalar},
}};

Result<void> parse_interval(std::string_view text, DownsampleSpec& spec) {
  if (text.contains("all")) {
    spec.all = true;
    return {};
  }
  // The message of the Java exception in OpenTSDB for an empty interval.
  if (text.empty()) return fail(Errc::kInvalidArgument, "String index out of range: -1");
  if (text.back() == 'c') {
    spec.calendar = true;
    text.remove_suffix(1);
  }
  TRY(spec.interval_ms, parse_duration(text));
  const std::string lower = to_lower(text);
  spec.unit = lower.substr(lower.size() - 1);
  if (lower.ends_with("ms")) spec.unit = "ms";
  // parse_duration() found leading digits. A count too large for a calendar stays 0.
  std::int32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  spec.interval = error == std::errc{} ? count : 0;
  return {};
}

}  // namespace

std::string_view fill_policy_name(FillPolicy policy) {
  for (const auto& [name, value] : kFillPolicies) {
    if (value == policy) return name;
  }
  return "";
}

Result<DownsampleSpec> parse_downsample(std::string_view text) {
  const auto parts = split_trimmed(text, '-');
  const auto refuse = [text](std::string_view why) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Invalid downsampling specifier '{}': {}", text, why));
  };
  if (parts.size() < 2) return refuse("must provide at least interval and function");
  if (parts.size() > 3) {
    return refuse("must consist of interval, function, and optional fill policy");
  }
  DownsampleSpec spec;
  spec.text = text;
  TRY_VOID(parse_interval(parts[0], spec));
  spec.function = parts[1];
  const Aggregator* function = find_aggregator(spec.function);
  if (function == nullptr) {
    return fail(Errc::kInvalidArgument,
                fmt::format("No such downsampling function: {}", spec.function));
  }
  if (function->kind == AggregatorKind::kNone) {
    return fail(Errc::kInvalidArgument, "cannot use the NONE aggregator for downsampling");
  }
  if (parts.size() < 3) return spec;
  const std::string fill = to_lower(parts[2]);
  for (const auto& [name, policy] : kFillPolicies) {
    if (name != fill) continue;
    spec.fill = policy;
    return spec;
  }
  return fail(Errc::kInvalidArgument, fmt::format("Unrecognized fill policy: {}", parts[2]));
}

}  // namespace halite::query
