#include "storage/meta/objects/tracked_point_store.h"

#include <algorithm>
#include <utility>

namespace halite::storage {

Task<Accepted> TrackedPointStore::append(PointBatch batch) {
  std::vector<SeriesId> series = batch.series;
  CO_TRY(Accepted accepted, co_await inner().append(std::move(batch)));
  // Refusals come in any order; refused points do not count.
  std::vector<std::size_t> refused;
  for (const Refusal& refusal : accepted.refused) refused.push_back(refusal.index);
  std::ranges::sort(refused);
  std::size_t kept = 0;
  auto next = refused.begin();
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (next != refused.end() && *next == i) {
      ++next;
    } else {
      series[kept++] = series[i];
    }
  }
  series.resize(kept);
  tracker_.count(series);
  co_return std::move(accepted);
}

}  // namespace halite::storage
