// Parsing of names and ids for the uid endpoints.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "storage/api/point_store.h"

namespace halite::web {

// "metric", "tagk" or "tagv" in any case; nullopt otherwise.
[[nodiscard]] std::optional<storage::NameKind> uid_kind(std::string_view type);

struct MetricAndTags {
  std::string metric;
  std::map<std::string, std::string> tags;
};

// "sys.cpu{host=web01,dc=lga}"; the braces are optional. kInvalidArgument with OpenTSDB's message.
[[nodiscard]] Result<MetricAndTags> parse_metric_and_tags(std::string_view text);

}  // namespace halite::web
