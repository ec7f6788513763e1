#include "ingest/ingest_batch.h"

#include "common/check.h"

namespace halite::ingest {

void IngestBatch::reserve(std::size_t points) {
  batch_.series.reserve(points);
  batch_.times.reserve(points);
  batch_.values.reserve(points);
  batch_.flags.reserve(points);
  origins_.reserve(points);
}

std::optional<IngestBatch::Waiting> IngestBatch::find_waiting(const SeriesKey& key,
                                                              std::uint64_t hash) const {
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const SeriesKey known = waiting_[std::to_underlying(at->second)].key();
    if (known.grammar == key.grammar && known.metric == key.metric && known.tags == key.tags) {
      return at->second;
    }
  }
  return std::nullopt;
}

IngestBatch::Waiting IngestBatch::add_waiting(const SeriesKey& key, std::uint64_t hash,
                                              SeriesName name) {
  waiting_bytes_ += sizeof(UnresolvedSeries) + (2 * (key.metric.size() + key.tags.size()));
  waiting_.push_back({.name = std::move(name),
                      .grammar = key.grammar,
                      .metric = std::string(key.metric),
                      .tags = std::string(key.tags),
                      .hash = hash});
  const Waiting series{static_cast<std::uint32_t>(waiting_.size() - 1)};
  by_hash_.emplace(hash, series);
  return series;
}

std::vector<SeriesName> IngestBatch::take_names() {
  std::vector<SeriesName> names;
  names.reserve(waiting_.size());
  for (UnresolvedSeries& series : waiting_) names.push_back(std::exchange(series.name, {}));
  return names;
}

std::vector<IngestBatch::Lost> IngestBatch::resolve(
    const std::vector<std::optional<storage::SeriesId>>& ids) {
  HALITE_CHECK(ids.size() == waiting_.size(), "one answer for each waiting series");
  std::vector<Lost> lost;
  std::vector<bool> gone;
  for (const std::uint32_t place : unresolved_) {
    const std::size_t series = batch_.series[place];
    if (ids[series]) {
      batch_.series[place] = *ids[series];
      continue;
    }
    lost.push_back({.origin = origins_[place], .series = series});
    gone.resize(batch_.size(), false);
    gone[place] = true;
  }
  unresolved_.clear();
  if (lost.empty()) return lost;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (gone[i]) continue;
    batch_.series[kept] = batch_.series[i];
    batch_.times[kept] = batch_.times[i];
    batch_.values[kept] = batch_.values[i];
    batch_.flags[kept] = batch_.flags[i];
    origins_[kept] = origins_[i];
    ++kept;
  }
  batch_.series.resize(kept);
  batch_.times.resize(kept);
  batch_.values.resize(kept);
  batch_.flags.resize(kept);
  origins_.resize(kept);
  return lost;
}

storage::PointBatch IngestBatch::take_batch() {
  HALITE_CHECK(unresolved_.empty(), "no point goes to the store without its series' id");
  return std::exchange(batch_, {});
}

}  // namespace halite::ingest
