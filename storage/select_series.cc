#include "storage/select_series.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "common/gather.h"

namespace halite::storage {
namespace {

constexpr std::size_t kShardsAtOnce = 16;

}  // namespace

Task<std::shared_ptr<const Selection>> select_series(SeriesRegistry& registry,
                                                     const RowLayout& layout, SeriesQuery query,
                                                     TimestampMs now, bool shared) {
  CO_TRY(std::shared_ptr<const RowSelection> selection,
         co_await RowSelection::resolve(registry, layout, std::move(query), now));
  if (selection->by_tsuid()) {
    SeriesRegistry::Loader loader{selection->watch(), {}};
    CO_TRY_VOID(co_await registry.load_series(selection->tsuids(), std::move(loader)));
  } else if (!shared) {
    auto count = [selection] { return selection->count(); };
    SeriesRegistry::Loader loader{selection->watch(), std::move(count)};
    CO_TRY_VOID(co_await registry.load_metric(selection->metric_uid(), false, std::move(loader)));
    CO_TRY_VOID(selection->count());
  }
  co_return std::shared_ptr<const Selection>(std::move(selection));
}

Task<std::vector<SeriesId>> list_series(SeriesRegistry& registry,
                                        std::shared_ptr<const RowSelection> selection,
                                        std::size_t limit, bool shared) {
  auto count = [selection] { return selection->count(); };
  SeriesRegistry::Loader loader{selection->watch(), std::move(count)};
  CO_TRY_VOID(co_await registry.load_metric(selection->metric_uid(), shared, std::move(loader)));
  CO_TRY_VOID(selection->count());
  const RowSelection::Known known = selection->known();
  std::vector<SeriesId> ids = known->by_shard();
  const SeriesTable& table = registry.table();
  const auto tsuid = [&table](SeriesId id) -> const Tsuid& { return table.at(id).tsuid; };
  if (limit == 0 || limit > ids.size()) limit = ids.size();
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(limit);
  std::ranges::partial_sort(ids, middle, {}, tsuid);
  ids.erase(middle, ids.end());
  co_return ids;
}

Task<std::vector<LastPoint>> join_last_points(std::vector<Task<std::vector<LastPoint>>> shards) {
  auto parts = co_await gather(std::move(shards), kShardsAtOnce);
  std::vector<LastPoint> points;
  for (auto& part : parts) {
    if (!part) co_return std::unexpected(part.error());
    points.insert(points.end(), part->begin(), part->end());
  }
  std::ranges::sort(points, {}, &LastPoint::series);
  co_return points;
}

std::shared_ptr<const RowSelection> as_rows(const std::shared_ptr<const Selection>& selection) {
  auto rows = std::dynamic_pointer_cast<const RowSelection>(selection);
  HALITE_CHECK(rows != nullptr, "a selection of another store");
  return rows;
}

}  // namespace halite::storage
