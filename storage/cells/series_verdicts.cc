#include "storage/cells/series_verdicts.h"

#include <algorithm>
#include <utility>

#include <xxhash.h>

namespace halite::storage {

std::size_t SeriesVerdicts::BytesHash::operator()(BytesView bytes) const {
  return XXH3_64bits(bytes.data(), bytes.size());
}

SeriesVerdicts::SeriesVerdicts(const RowLayout& layout, const SeriesRegistry& registry,
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

bool SeriesVerdicts::matches(BytesView row) const {
  const Result<RowId> id = layout_.parse_row(row);
  if (!id) return true;
  SeriesId series = 0;
  return verdict(id->tsuid, series) != Verdict::kUnwanted;
}

SeriesVerdicts::Verdict SeriesVerdicts::verdict(const Bytes& tsuid, SeriesId& series) const {
  {
    const std::lock_guard lock(mutex_);
    const auto found = decided_.find(tsuid);
    if (found != decided_.end()) {
      series = found->second.series;
      return found->second.wanted ? Verdict::kWanted : Verdict::kUnwanted;
    }
  }
  const std::optional<SeriesId> id = registry_.table().find(tsuid);
  if (!id) return Verdict::kUnknown;
  const bool wanted = decide(*id);
  series = *id;
  const std::lock_guard lock(mutex_);
  decided_.emplace(tsuid, Decided{*id, wanted});
  return wanted ? Verdict::kWanted : Verdict::kUnwanted;
}

bool SeriesVerdicts::decide(SeriesId id) const {
  if (std::ranges::binary_search(except_, id)) return false;
  if (only_) return std::ranges::binary_search(*only_, id);
  return selection_->matches(registry_.table().at(id));
}

}  // namespace halite::storage
