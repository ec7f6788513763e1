#include "storage/series_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "common/check.h"

namespace halite::storage {

namespace {

bool has_name(const Series& series, const SeriesTable::Renamed& renamed) {
  if (renamed.kind == NameKind::kMetric) return series.tsuid.starts_with(renamed.uid_bytes);
  return std::ranges::any_of(series.tags, [&renamed](const SeriesTag& tag) {
    return (renamed.kind == NameKind::kTagKey ? tag.key_uid : tag.value_uid) == renamed.uid;
  });
}

void apply(const SeriesTable::Renamed& renamed, Series& series) {
  if (renamed.kind == NameKind::kMetric) {
    if (has_name(series, renamed)) series.metric = renamed.name;
    return;
  }
  for (SeriesTag& tag : series.tags) {
    if (renamed.kind == NameKind::kTagKey && tag.key_uid == renamed.uid) tag.key = renamed.name;
    if (renamed.kind == NameKind::kTagValue && tag.value_uid == renamed.uid) {
      tag.value = renamed.name;
    }
  }
}

}  // namespace

std::size_t series_bytes(std::size_t tags, std::size_t tsuid_bytes) {
  constexpr std::size_t kAllocation = 16;  // what malloc adds, about
  constexpr std::size_t kIndexed = 48;     // in the maps, which are between half and 7/8 full
  constexpr std::size_t kLastPoint = 32;
  constexpr std::size_t kTsuidInside = 15;  // longer ones are on the heap
  return sizeof(Series) + kIndexed + kLastPoint + kAllocation + tags * sizeof(SeriesTag) +
         (tsuid_bytes > kTsuidInside ? tsuid_bytes + kAllocation : 0);
}

Result<void> SeriesTable::check_room(std::size_t series, std::size_t bytes) const {
  if (series > limits_.series - size()) {
    return fail(Errc::kTooLarge,
                fmt::format("no more than {} series are known at a time; storage.series_max raises "
                            "this",
                            limits_.series));
  }
  const std::size_t taken = bytes_;
  if (bytes > limits_.bytes - std::min(taken, limits_.bytes)) {
    return fail(Errc::kTooLarge,
                fmt::format("the series known at a time take no more than {} bytes of memory; "
                            "storage.series_bytes_max raises this",
                            limits_.bytes));
  }
  return {};
}

std::size_t SeriesTable::TsuidHash::operator()(BytesView tsuid) const {
  return XXH3_64bits(tsuid.data(), tsuid.size());
}

SeriesTable::SeriesTable(SeriesLimits limits)
    : limits_(limits), chunks_((std::size_t{limits.series} + kChunkSeries - 1) / kChunkSeries) {}

SeriesTable::~SeriesTable() {
  for (const std::atomic<Chunk*>& chunk : chunks_) delete chunk.load();
}

const Series& SeriesTable::at(SeriesId id) const {
  HALITE_CHECK(id < size(), "a series id of another store");
  const Chunk* chunk = chunks_[id / kChunkSeries].load(std::memory_order_acquire);
  return (*chunk)[id % kChunkSeries];
}

// The map uses the hash's other bits.
std::size_t SeriesTable::shard_index(BytesView tsuid) {
  return (TsuidHash()(tsuid) >> 40) % kShards;
}

std::optional<SeriesId> SeriesTable::find(BytesView tsuid) const {
  const Shard& home = shards_[shard_index(tsuid)];
  const std::shared_lock lock(home.mutex);
  const auto found = home.ids.find(tsuid);
  if (found == home.ids.end()) return std::nullopt;
  return found->second;
}

// The caller holds grow_mutex_ and fills the place before it raises size_.
Series* SeriesTable::next_place(SeriesId& id) {
  id = size_.load();
  std::atomic<Chunk*>& chunk = chunks_[id / kChunkSeries];
  if (chunk.load() == nullptr) {
    chunk.store(std::make_unique<Chunk>().release(), std::memory_order_release);
  }
  return &(*chunk.load())[id % kChunkSeries];
}

Result<SeriesId> SeriesTable::add(std::uint64_t metric_uid, Series series) {
  Shard& home = shards_[shard_index(series.tsuid)];
  const std::lock_guard lock(home.mutex);
  const auto found = home.ids.find(series.tsuid);
  if (found != home.ids.end()) return found->second;
  SeriesId id = 0;
  Series* place = nullptr;
  {
    const std::lock_guard grow(grow_mutex_);
    const std::size_t bytes = series_bytes(series.tags.size(), series.tsuid.size());
    TRY_VOID(check_room(1, bytes));
    place = next_place(id);
    bytes_ += bytes;
    series.id = id;
    for (const Renamed& renamed : renamed_) apply(renamed, series);  // its maker may not know yet
    *place = std::move(series);
    size_.store(id + 1);
  }
  home.ids.emplace(place->tsuid, id);
  const std::lock_guard metrics(metrics_mutex_);
  metrics_[metric_uid].push_back(id);
  return id;
}

// Series are never changed where somebody may look: a chunk with a series of that name is replaced.
void SeriesTable::rename(Renamed renamed) {
  const std::lock_guard grow(grow_mutex_);
  for (SeriesId first = 0; first < size(); first += kChunkSeries) {
    std::atomic<Chunk*>& place = chunks_[first / kChunkSeries];
    const Chunk& before = *place.load();
    const auto concerned = [&renamed](const Series& series) { return has_name(series, renamed); };
    if (std::ranges::none_of(before, concerned)) continue;
    auto after = std::make_unique<Chunk>(before);
    for (Series& series : *after) apply(renamed, series);
    outdated_.emplace_back(place.exchange(after.release(), std::memory_order_acq_rel));
  }
  renamed_.push_back(std::move(renamed));
}

std::size_t SeriesTable::count_of_metric(std::uint64_t metric_uid) const {
  const std::shared_lock lock(metrics_mutex_);
  const auto found = metrics_.find(metric_uid);
  return found == metrics_.end() ? 0 : found->second.size();
}

std::vector<SeriesId> SeriesTable::of_metric(std::uint64_t metric_uid, std::size_t from) const {
  const std::shared_lock lock(metrics_mutex_);
  const auto found = metrics_.find(metric_uid);
  if (found == metrics_.end() || found->second.size() <= from) return {};
  return {found->second.begin() + static_cast<std::ptrdiff_t>(from), found->second.end()};
}

}  // namespace halite::storage
