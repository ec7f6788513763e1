// What /api/search/lookup is asked for, from either syntax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "storage/api/point_store.h"
#include "web/target.h"

namespace halite::web {

struct LookupQuery {
  std::string metric;       // empty: any
  std::string metric_text;  // as asked; empty: not said, then not in the answer
  // As asked: {key, "*"} is any value of the key, {"*", value} any key with the value. What was not
  // said is empty and means the same.
  std::vector<std::pair<std::string, std::string>> tags;
  bool show_tags = false;                   // in the answer, perhaps none
  std::vector<std::string> any_key_values;  // of tags of any key: the series has each
  std::int64_t limit = 25;
  // Only series with points between these times, as asked; no start: whatever their points.
  std::string start;
  std::string end;  // included; empty: now
};

[[nodiscard]] Result<LookupQuery> parse_lookup_uri(const Target& target);
[[nodiscard]] Result<LookupQuery> parse_lookup_post(std::string_view body);

// The part of it that the store answers.
[[nodiscard]] storage::SeriesQuery series_query(const LookupQuery& query,
                                                const std::string& metric);
// The rest of it.
[[nodiscard]] bool fits_any_key(const LookupQuery& query, const storage::Series& series);

}  // namespace halite::web
