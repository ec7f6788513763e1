// Names of the formats that have no rules of OpenTSDB: any UTF-8 without a zero byte; any number of
// tags from none up to ingest.tags_max. For ingest/formats, ingest/import and the rooms of other
// protocols.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/data_point.h"
#include "ingest/options.h"
#include "ingest/rules/refusal.h"
#include "ingest/series_cache/series_key.h"

namespace halite::ingest {

// The series of names in any order. A tag with an empty value is none; a repeated key is refused.
[[nodiscard]] std::expected<SeriesName, Refused> free_series(std::string metric,
                                                             std::vector<Tag> tags,
                                                             const IngestLimits& limits);

// What is wrong with a name; nothing if it is legal. `what`: "metric", "tag key".
[[nodiscard]] std::optional<std::string> name_fault(std::string_view what, std::string_view name,
                                                    const IngestLimits& limits);
// Why a series is refused whose names have more than limits.series_bytes_max() bytes.
[[nodiscard]] std::string names_too_long(std::size_t bytes, const IngestLimits& limits);

// A key of KeyGrammar::kNames, in a buffer that is used again.
class NamesKey {
 public:
  void begin(std::string_view metric) {
    metric_ = metric;
    tags_.clear();
  }
  void add(std::string_view key, std::string_view value) {
    tags_ += key;
    tags_ += '\0';
    tags_ += value;
    tags_ += '\0';
  }
  void set(const SeriesName& name) {
    begin(name.metric);
    for (const Tag& tag : name.tags) add(tag.key, tag.value);
  }
  [[nodiscard]] SeriesKey key() const {
    return {.grammar = KeyGrammar::kNames, .metric = metric_, .tags = tags_};
  }

 private:
  std::string metric_;
  std::string tags_;
};

// The tags of such a key.
[[nodiscard]] std::vector<Tag> tags_of_names(std::string_view tags);

}  // namespace halite::ingest
