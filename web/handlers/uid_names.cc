#include "web/handlers/uid_names.h"

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/parse/text.h"
#include "web/http/http_message.h"

namespace halite::web {

namespace {

Result<void> add_series_tag(std::string_view tag, std::map<std::string, std::string>& tags) {
  const std::vector<std::string_view> parts = query::split_all(tag, '=');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("When parsing tag '{}': invalid tag: {}", tag, tag));
  }
  const auto [at, fresh] = tags.try_emplace(std::string(parts[0]), parts[1]);
  if (fresh || at->second == parts[1]) return {};
  std::string text;
  for (const auto& [key, value] : tags) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  }
  return fail(Errc::kInvalidArgument,
              fmt::format("When parsing tag '{}': duplicate tag: {}, tags={{{}}}", tag, tag, text));
}

}  // namespace

std::optional<storage::NameKind> uid_kind(std::string_view type) {
  const std::string lower = to_lower(type);
  if (lower == "metric") return storage::NameKind::kMetric;
  if (lower == "tagk") return storage::NameKind::kTagKey;
  if (lower == "tagv") return storage::NameKind::kTagValue;
  return std::nullopt;
}

Result<MetricAndTags> parse_metric_and_tags(std::string_view text) {
  MetricAndTags parsed;
  const std::size_t curly = text.find('{');
  parsed.metric = text.substr(0, curly);
  if (curly == std::string_view::npos) return parsed;
  if (text.back() != '}') {
    return fail(Errc::kInvalidArgument, fmt::format("Missing '}}' at the end of: {}", text));
  }
  const std::string_view inner = text.substr(curly + 1, text.size() - curly - 2);
  if (inner.empty()) return parsed;
  for (const std::string_view tag : query::split_all(inner, ',')) {
    TRY_VOID(add_series_tag(tag, parsed.tags));
  }
  return parsed;
}

}  // namespace halite::web
