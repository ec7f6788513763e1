#include "web/handlers/active_names.h"

#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "query/parse/parse_context.h"
#include "query/parse/time.h"
#include "web/handlers/annotation_request.h"

namespace halite::web {
namespace {

// The smallest names, up to a maximum.
class Names {
 public:
  explicit Names(std::size_t max) : max_(max) {}

  void add(std::string_view name) {
    if (names_.size() == max_ && !(name < *names_.rbegin())) return;
    if (!names_.emplace(name).second || names_.size() <= max_) return;
    names_.erase(std::prev(names_.end()));
  }
  [[nodiscard]] bool full() const { return names_.size() >= max_; }
  [[nodiscard]] std::vector<std::string> list() const { return {names_.begin(), names_.end()}; }

 private:
  const std::size_t max_;
  std::set<std::string, std::less<>> names_;
};

void add_tags(const storage::Series& series, const ActiveNames& wanted, Names& names) {
  for (const storage::SeriesTag& tag : series.tags) {
    const std::string_view name = wanted.kind == storage::NameKind::kTagKey ? tag.key : tag.value;
    if (name.starts_with(wanted.prefix)) names.add(name);
  }
}

}  // namespace

Result<std::optional<TimeRange>> parse_range(const Call& call, std::string_view start,
                                             std::string_view end) {
  if (start.empty() && end.empty()) return std::nullopt;
  if (start.empty()) return fail(Errc::kInvalidArgument, "Missing start time");
  const query::ParseContext context = time_context(call);
  TimeRange range;
  TRY(range.begin, query::parse_time(start, context));
  range.end = context.now;
  if (!end.empty()) {
    TRY(range.end, query::parse_time(end, context));
  }
  if (range.end >= query::kTimeEnd) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Invalid timestamp: {}: expected milliseconds since 1970, less than {}",
                            range.end, query::kTimeEnd));
  }
  ++range.end;  // inclusive
  if (range.begin < range.end) return range;
  return fail(Errc::kInvalidArgument, "End time must be greater than the start time");
}

Task<std::vector<std::string>> find_active_names(storage::PointStore& store, ActiveNames wanted,
                                                 std::shared_ptr<query::QueryBudget> budget) {
  const std::shared_ptr<const storage::SeriesPin> pin = store.pin_series();  // of names to visit
  const bool metrics_wanted = wanted.kind == storage::NameKind::kMetric;
  std::string prefix = metrics_wanted ? wanted.prefix : std::string();
  CO_TRY(const std::vector<std::string> metrics,
         co_await store.suggest(storage::NameKind::kMetric, std::move(prefix), SIZE_MAX));
  Names names(wanted.max);
  for (const std::string& metric : metrics) {
    if (metrics_wanted && names.full()) break;  // metrics are visited in order
    CO_TRY_VOID(budget->check());
    storage::SeriesQuery query;
    query.metric = metric;
    auto selecting = store.select(std::move(query), {.budget = budget});
    CO_TRY(std::shared_ptr<const storage::Selection> selection, co_await std::move(selecting));
    auto looking = store.last(std::move(selection), wanted.range);
    CO_TRY(const storage::PinnedLastPoints points, co_await std::move(looking));
    if (metrics_wanted) {
      if (!points.empty()) names.add(metric);
      continue;
    }
    for (const storage::LastPoint& point : points) {
      add_tags(store.series(point.series), wanted, names);
    }
  }
  co_return names.list();
}

}  // namespace halite::web
