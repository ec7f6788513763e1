#include "ingest/formats/names.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "ingest/formats/shown.h"

namespace halite::ingest {

std::optional<std::string> name_fault(std::string_view what, std::string_view name,
                                      const IngestLimits& limits) {
  if (name.empty()) return fmt::format("a {} is empty", what);
  if (name.size() > limits.name_bytes_max) {
    return fmt::format("a {} has {} bytes, at most {} are allowed (ingest.name_bytes_max)", what,
                       name.size(), limits.name_bytes_max);
  }
  if (!is_utf8(name)) return fmt::format("a {} is not UTF-8", what);
  const std::size_t zero = name.find('\0');
  if (zero != std::string_view::npos) {
    return fmt::format("a {} has a zero byte behind {}", what, shown(name.substr(0, zero)));
  }
  return std::nullopt;
}

std::string names_too_long(std::size_t bytes, const IngestLimits& limits) {
  return fmt::format(
      "the names of the series have {} bytes, too many for {} tags (ingest.tags_max) of {} bytes "
      "(ingest.name_bytes_max)",
      bytes, limits.tags_max, limits.name_bytes_max);
}

std::expected<SeriesName, Refused> free_series(std::string metric, std::vector<Tag> tags,
                                               const IngestLimits& limits) {
  std::erase_if(tags, [](const Tag& tag) { return tag.value.empty() && !tag.key.empty(); });
  if (tags.size() > limits.tags_max) {
    return illegal(fmt::format("{} tags, at most {} are allowed (ingest.tags_max)", tags.size(),
                               limits.tags_max));
  }
  if (auto wrong = name_fault("metric", metric, limits)) return illegal(*std::move(wrong));
  for (const Tag& tag : tags) {
    if (auto wrong = name_fault("tag key", tag.key, limits)) return illegal(*std::move(wrong));
    if (auto wrong = name_fault("tag value", tag.value, limits)) return illegal(*std::move(wrong));
  }
  std::ranges::sort(tags);
  const auto twice = std::ranges::adjacent_find(tags, {}, &Tag::key);
  if (twice != tags.end())
    return illegal(fmt::format("the tag key {} is there twice", shown(twice->key)));
  return SeriesName{.metric = std::move(metric), .tags = std::move(tags)};
}

std::vector<Tag> tags_of_names(std::string_view text) {
  std::vector<Tag> tags;
  while (!text.empty()) {
    const std::size_t key_end = text.find('\0');
    const std::size_t value_end = text.find('\0', key_end + 1);
    tags.push_back({.key = std::string(text.substr(0, key_end)),
                    .value = std::string(text.substr(key_end + 1, value_end - key_end - 1))});
    text.remove_prefix(value_end + 1);
  }
  return tags;
}

}  // namespace halite::ingest
