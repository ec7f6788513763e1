// The names in use: those of series with points in a time range.
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

// The range of a request's `start` and `end`: texts as in queries, dates in the zone of the URI's
// timezone=. nullopt if both are empty; an empty end is now. The end is inclusive.
// kInvalidArgument: an end without or before a start, or an invalid text.
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
