#include "storage/catalog/select_series.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/check.h"
#include "common/gather.h"

namespace halite::storage {
namespace {

constexpr std::size_t kShardsAtOnce = 16;

// Loads the series that the selection needs and takes them into use. Begins again if series were
// unloaded meanwhile.
Task<void> load_selected(SeriesRegistry& registry, std::shared_ptr<const RowSelection> selection,
                         SeriesLoader::Wanted wanted) {
  SeriesLoader& loader = registry.loader();
  for (;;) {
    const std::uint64_t unloads = loader.unloads(selection->metric_uid());
    auto use = [selection] { return selection->use(); };
    SeriesLoader::LoadLimits bounds{selection->context(), use};
    if (selection->by_tsuid()) {
      bounds.progress = {};
      CO_TRY_VOID(co_await loader.load_series(selection->tsuids(), std::move(bounds)));
    } else {
      CO_TRY_VOID(co_await loader.load_metric(wanted, std::move(bounds)));
    }
    CO_TRY_VOID(selection->use());
    if (loader.unloads(selection->metric_uid()) == unloads) co_return Result<void>();
  }
}

}  // namespace

Task<std::shared_ptr<const Selection>> select_series(SeriesRegistry& registry,
                                                     const RowLayout& layout, SeriesQuery query,
                                                     ReadContext context, TimestampMs now,
                                                     bool shared) {
  CO_TRY(
      std::shared_ptr<const RowSelection> selection,
      co_await RowSelection::resolve(registry, layout, std::move(query), std::move(context), now));
  if (selection->by_tsuid() || !shared) {
    CO_TRY_VOID(co_await load_selected(
        registry, selection, {.metric_uid = selection->metric_uid(), .since = selection->since()}));
  }
  co_return std::shared_ptr<const Selection>(std::move(selection));
}

Task<PinnedSeries> list_series(SeriesRegistry& registry,
                               std::shared_ptr<const RowSelection> selection, std::size_t limit,
                               bool shared) {
  CO_TRY_VOID(co_await load_selected(registry, selection,
                                     {.metric_uid = selection->metric_uid(), .again = shared}));
  const RowSelection::Known known = selection->known();
  std::vector<SeriesId> ids = known->by_shard();
  const SeriesTable& table = registry.table();
  const auto tsuid = [&table](SeriesId id) -> const Tsuid& { return table.at(id).tsuid; };
  if (limit == 0 || limit > ids.size()) limit = ids.size();
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(limit);
  std::ranges::partial_sort(ids, middle, {}, tsuid);
  ids.erase(middle, ids.end());
  co_return PinnedSeries(selection->pin(), std::move(ids));
}

// Merges the sorted runs two by two.
void sort_by_series(std::vector<LastPoint>& points) {
  constexpr auto kSeries = &LastPoint::series;
  std::vector<std::ptrdiff_t> ends = {0};  // the end of each run
  const auto size = std::ssize(points);
  while (ends.back() < size) {
    const auto run = points.begin() + ends.back();
    ends.push_back(std::ranges::is_sorted_until(run, points.end(), {}, kSeries) - points.begin());
  }
  std::vector<LastPoint> merged;
  while (ends.size() > 2) {
    merged.resize(points.size());
    std::vector<std::ptrdiff_t> merged_ends = {0};
    const auto begin = points.begin();
    for (std::size_t run = 0; run + 1 < ends.size(); run += 2) {
      const std::size_t last = std::min(run + 2, ends.size() - 1);
      std::merge(begin + ends[run], begin + ends[run + 1], begin + ends[run + 1],
                 begin + ends[last], merged.begin() + ends[run],
                 [](const LastPoint& a, const LastPoint& b) { return a.series < b.series; });
      merged_ends.push_back(ends[last]);
    }
    points.swap(merged);
    ends = std::move(merged_ends);
  }
}

Task<std::vector<LastPoint>> join_last_points(std::vector<Task<std::vector<LastPoint>>> shards) {
  auto parts = co_await gather(std::move(shards), kShardsAtOnce);
  std::vector<LastPoint> points;
  for (auto& part : parts) {
    if (!part) co_return std::unexpected(part.error());
    if (points.empty()) {
      points = *std::move(part);
    } else {
      points.insert(points.end(), part->begin(), part->end());
    }
  }
  sort_by_series(points);
  co_return points;
}

std::shared_ptr<const RowSelection> as_rows(const std::shared_ptr<const Selection>& selection) {
  auto rows = std::dynamic_pointer_cast<const RowSelection>(selection);
  HALITE_CHECK(rows != nullptr, "a selection of another store");
  return rows;
}

}  // namespace halite::storage
