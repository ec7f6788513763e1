// The parameters of /api/search/lookup, from either syntax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "storage/api/point_store.h"
#include "web/http/target.h"

namespace halite::web {

struct LookupQuery {
  std::string metric;       // empty = any
  std::string metric_text;  // as sent; empty = absent, and omitted in the answer
  // As sent: {key, "*"} is any value of the key, {"*", value} is any key with the value. Empty if
  // absent, with equal meaning.
  std::vector<std::pair<std::string, std::string>> tags;
  bool show_tags = false;                   // in the answer, possibly empty
  std::vector<std::string> any_key_values;  // values under any key: the series has each
  std::int64_t limit = 25;
  // Only series with points between these times, as sent; without a start, all series.
  std::string start;
  std::string end;  // inclusive; empty = now
};

[[nodiscard]] Result<LookupQuery> parse_lookup_uri(const Target& target);
[[nodiscard]] Result<LookupQuery> parse_lookup_post(std::string_view body);

// The part that the store answers.
[[nodiscard]] storage::SeriesQuery series_query(const LookupQuery& query,
                                                const std::string& metric);
// The rest of the conditions.
[[nodiscard]] bool fits_any_key(const LookupQuery& query, const storage::Series& series);

}  // namespace halite::web
