#include "storage/cells/series_row_filter.h"

#include <algorithm>
#include <utility>

#include <xxhash.h>

namespace halite::storage {

std::size_t SeriesRowFilter::BytesHash::operator()(BytesView bytes) const {
  return XXH3_64bits(bytes.data(), bytes.size());
}

SeriesRowFilter::SeriesRowFilter(const RowLayout& layout, const SeriesRegistry& registry,
                                 std::shared_ptr<const RowSelection> selection,
                                 std::optional<std::vector<SeriesId>> only,
                                 std::vector<SeriesId> except)
    : layout_(layout),
      registry_(registry),
      selection_(std::move(selection)),
      only_(std::move(only)),
      except_(std::move(except)) {
  if (only_) std::ranges::sort(*only_);
  std::ranges::sort(except_);
}

bool SeriesRowFilter::matches(BytesView row) const {
  const Result<RowId> id = layout_.parse_row(row);
  if (!id) return true;
  SeriesId series = 0;
  return match(id->tsuid, series) != Match::kUnwanted;
}

SeriesRowFilter::Match SeriesRowFilter::match(const Bytes& tsuid, SeriesId& series) const {
  {
    const std::lock_guard lock(mutex_);
    const auto found = decided_.find(tsuid);
    if (found != decided_.end()) {
      series = found->second.series;
      return found->second.wanted ? Match::kWanted : Match::kUnwanted;
    }
  }
  const std::optional<SeriesId> id = registry_.table().find(tsuid);
  if (!id) return Match::kUnknown;
  const bool wanted = decide(*id);
  series = *id;
  const std::lock_guard lock(mutex_);
  decided_.emplace(tsuid, DecidedSeries{*id, wanted});
  return wanted ? Match::kWanted : Match::kUnwanted;
}

bool SeriesRowFilter::decide(SeriesId id) const {
  if (std::ranges::binary_search(except_, id)) return false;
  if (only_) return std::ranges::binary_search(*only_, id);
  return selection_->matches(registry_.table().at(id));
}

}  // namespace halite::storage
