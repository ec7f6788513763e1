#include "app/settings/retention_rules.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/config/config_value.h"

namespace halite::app {
namespace {

std::unexpected<Error> wrong(std::string_view part, std::string_view why) {
  return fail(Errc::kInvalidArgument,
              fmt::format("storage.retention must be a comma-separated list of PREFIX=DURATION "
                          "such as tmp.=7d; \"{}\" {}",
                          part, why));
}

}  // namespace

Result<std::vector<storage::RetentionRule>> parse_retention_rules(std::string_view text) {
  std::vector<storage::RetentionRule> rules;
  if (trim(text).empty()) return rules;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = trim(text.substr(begin, comma - begin));
    begin = comma + 1;
    const std::size_t equals = part.rfind('=');
    if (equals == std::string_view::npos) return wrong(part, "has no =");
    const std::string_view prefix = trim(part.substr(0, equals));
    if (prefix.empty()) return wrong(part, "has no prefix; use storage.ttl_ms for all metrics");
    const auto ttl_ms = parse_duration_ms(trim(part.substr(equals + 1)));
    if (!ttl_ms) return wrong(part, ttl_ms.error().message);
    if (*ttl_ms < 0) return wrong(part, "is negative");
    if (std::ranges::find(rules, prefix, &storage::RetentionRule::prefix) != rules.end()) {
      return wrong(part, "repeats a prefix");
    }
    rules.push_back({.prefix = std::string(prefix), .ttl_ms = *ttl_ms});
  }
  return rules;
}

}  // namespace halite::app
