// Which names are in use: those of series with points in a range of time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "query/query_budget.h"
#include "storage/api/point_store.h"
#include "web/endpoint.h"

namespace halite::web {

// What `start` and `end` of a request say, texts as in queries, dates in the zone that timezone= of
// the URI names: nothing where both are empty; no end is now. The end is included in what was
// asked, and so in the range. kInvalidArgument: an end without a start, or before it; a text that
// is no time.
[[nodiscard]] Result<std::optional<TimeRange>> parse_range(const Call& call, std::string_view start,
                                                           std::string_view end);

// Names that begin with prefix, of series with points in the range, in byte order, at most max.
struct ActiveNames {
  storage::NameKind kind = storage::NameKind::kMetric;
  std::string prefix;
  std::size_t max = 0;
  TimeRange range;
};
[[nodiscard]] Task<std::vector<std::string>> find_active_names(
    storage::PointStore& store, ActiveNames wanted, std::shared_ptr<query::QueryBudget> budget);

}  // namespace halite::web
