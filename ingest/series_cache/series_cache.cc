#define XXH_INLINE_ALL
#include "ingest/series_cache/series_cache.h"

#include <algorithm>
#include <utility>

#include <xxhash.h>

#include "ingest/series_cache/series_key_match.h"

namespace halite::ingest {

SeriesCache::SeriesCache(std::size_t bytes_max, std::uint64_t seed, const storage::PointSink* names)
    : seed_(seed), names_(names) {
  divide(bytes_max, 0);
  view_ = empty_view(0);
}

void SeriesCache::divide(std::size_t bytes_max, std::size_t index_bytes) {
  index_bytes_max_ = names_ == nullptr ? 0 : bytes_max / 4;
  segment_bytes_max_ = (bytes_max - std::max(index_bytes_max_, index_bytes)) / kSegments;
}

std::uint64_t SeriesCache::hash(const SeriesKey& key) const {
  const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(key.grammar);
  const std::uint64_t metric = XXH3_64bits_withSeed(key.metric.data(), key.metric.size(), seed);
  return XXH3_64bits_withSeed(key.tags.data(), key.tags.size(), metric);
}

SeriesCache::View SeriesCache::view() const {
  const std::scoped_lock lock(mutex_);
  return view_;
}

SeriesCache::Reader SeriesCache::reader(const storage::SeriesPin& pin) {
  clear_before(pin.series_epoch);
  return Reader(*this);
}

std::uint64_t SeriesCache::epoch() const { return view().epoch; }

std::shared_ptr<CacheSegment> SeriesCache::new_segment() const {
  return std::make_shared<CacheSegment>(segment_bytes_max_, seed_);
}

SeriesCache::View SeriesCache::empty_view(std::uint64_t epoch) const {
  View view{.segments = {}, .index = nullptr, .epoch = epoch};
  for (auto& segment : view.segments) segment = new_segment();
  if (names_ != nullptr) view.index = std::make_shared<SeriesCacheIndex>(index_bytes_max_);
  return view;
}

void SeriesCache::clear() {
  View old;  // freed without the lock
  {
    const std::scoped_lock lock(mutex_);
    old = std::exchange(view_, empty_view(view_.epoch + 1));
    changes_.fetch_add(1, std::memory_order_release);
  }
}

void SeriesCache::clear_before(std::uint64_t store_epoch) {
  if (store_epoch_.load(std::memory_order_acquire) >= store_epoch) return;
  const std::scoped_lock lock(clearing_);
  if (store_epoch_.load(std::memory_order_relaxed) >= store_epoch) return;
  clear();
  store_epoch_.store(store_epoch, std::memory_order_release);
}

void SeriesCache::insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id,
                         std::uint64_t epoch) {
  const View now = view();
  if (now.epoch != epoch) return;  // cleared meanwhile
  if (now.index != nullptr) now.index->insert(hash, id);
  if (now.use == 0) {
    insert_text(now, key, hash, id);
  } else {
    turned_away(now, 1);
  }
}

void SeriesCache::insert_text(const View& view, const SeriesKey& key, std::uint64_t hash,
                              storage::SeriesId id) {
  for (const std::shared_ptr<CacheSegment>& segment : view.segments) {
    if (segment->insert(key, hash, id)) return;
  }
  turned_away(view, 1);
}

void SeriesCache::turned_away(const View& seen, std::uint64_t texts) {
  constexpr std::uint64_t kEach = 32;  // texts turned away for each text until the count ends
  constexpr std::uint64_t kTextsMin = 1024;
  const std::uint64_t count = turned_away_.fetch_add(texts, std::memory_order_relaxed) + texts;
  const std::uint64_t kept = seen.segments[0]->keys() + seen.segments[1]->keys();
  if (seen.use != 0 && count < std::max(kept, kTextsMin) * kEach) return;
  std::vector<std::shared_ptr<CacheSegment>> replaced;  // freed without the lock
  const std::scoped_lock lock(mutex_);
  if (view_.segments != seen.segments || view_.use != seen.use) return;
  if (seen.use != 0) replaced = make_room();
  if (replaced.empty()) {
    // The next count. Its number tells keys that were found in it from others.
    view_.use = last_use_ = last_use_ == 255 ? 1 : last_use_ + 1;
    for (const std::shared_ptr<CacheSegment>& segment : view_.segments) {
      segment->begin_count(view_.use);
    }
    turned_away_.store(0, std::memory_order_relaxed);
  } else {
    view_.use = 0;
  }
  changes_.fetch_add(1, std::memory_order_release);
}

std::vector<std::shared_ptr<CacheSegment>> SeriesCache::make_room() {
  auto& [first, second] = view_.segments;
  auto& least = second->in_use() < first->in_use() ? second : first;
  auto& most = &least == &first ? second : first;
  std::vector<std::shared_ptr<CacheSegment>> replaced;
  if (least->in_use() * 8 >= least->keys() * 7) return replaced;
  const bool both = most->in_use() * 8 < most->keys();
  replaced.push_back(std::exchange(least, new_segment()));
  if (both) replaced.push_back(std::exchange(most, new_segment()));
  return replaced;
}

void SeriesCache::resize(std::size_t bytes_max) {
  View old;  // freed after the lock is released
  const std::scoped_lock lock(mutex_);
  old = view_;
  const std::size_t kept = view_.index == nullptr ? 0 : view_.index->bytes();
  const bool keeps_index = kept <= bytes_max / 2;
  divide(bytes_max, keeps_index ? kept : 0);
  if (!keeps_index) {
    view_.index = std::make_shared<SeriesCacheIndex>(index_bytes_max_);
  } else if (view_.index != nullptr) {
    view_.index->resize(index_bytes_max_);
  }
  for (std::shared_ptr<CacheSegment>& segment : view_.segments) {
    if (segment->bytes() > segment_bytes_max_) {
      segment = new_segment();
    } else {
      segment->resize(segment_bytes_max_);
    }
  }
  view_.use = 0;  // there may be room
  changes_.fetch_add(1, std::memory_order_release);
}

std::size_t SeriesCache::bytes() const {
  const View now = view();
  const std::size_t texts = now.segments[0]->bytes() + now.segments[1]->bytes();
  return texts + (now.index == nullptr ? 0 : now.index->bytes());
}

std::size_t SeriesCache::keys() const {
  const View now = view();
  return now.segments[0]->keys() + now.segments[1]->keys();
}

SeriesCache::Reader::Reader(SeriesCache& cache)
    : cache_(&cache),
      changes_(cache.changes_.load(std::memory_order_acquire)),
      view_(cache.view()) {}

void SeriesCache::Reader::refresh() {
  const std::uint64_t changes = cache_->changes_.load(std::memory_order_acquire);
  if (changes == changes_) return;
  changes_ = changes;
  view_ = cache_->view();
  lose_order();
}

void SeriesCache::Reader::add_to_use(const CachedKey& found, std::size_t segment) const {
  view_.segments[segment]->add_to_use(found, view_.use);
}

std::optional<storage::SeriesId> SeriesCache::Reader::find_in_index(const SeriesKey& key,
                                                                    std::uint64_t hash) const {
  // Some keys stand for all, so that threads rarely write to the same place.
  constexpr std::uint64_t kStandsFor = 64;
  if (view_.index == nullptr) return std::nullopt;
  const auto id = view_.index->find(hash, [this, &key](storage::SeriesId candidate) {
    return names_series(key, cache_->names_->series(candidate));
  });
  if (!id) return std::nullopt;
  if (view_.use == 0) {
    cache_->insert_text(view_, key, hash, *id);
  } else if ((hash >> 20) % kStandsFor == 0) {
    cache_->turned_away(view_, kStandsFor);
  }
  return id;
}

void SeriesCache::Reader::prefetch_slot(std::uint64_t hash) const {
  for (const auto& segment : view_.segments) segment->prefetch_slot(hash);
  if (view_.use != 0 && view_.index != nullptr) view_.index->prefetch(hash);
}

void SeriesCache::Reader::prefetch_entry(std::uint64_t hash) const {
  for (const auto& segment : view_.segments) segment->prefetch_entry(hash);
}

void SeriesCache::Reader::prefetch_text(const SeriesKey& key, std::uint64_t hash) const {
  for (const auto& segment : view_.segments) segment->prefetch_text(hash, key.tags.size());
}

const CachedKey* SeriesCache::Reader::find_text(const SeriesKey& key, std::uint64_t hash,
                                                std::size_t& segment) const {
  for (segment = 0; segment < kSegments; ++segment) {
    if (const CachedKey* const entry = view_.segments[segment]->find(key, hash)) return entry;
  }
  return nullptr;
}

std::optional<storage::SeriesId> SeriesCache::Reader::find(const SeriesKey& key,
                                                           std::uint64_t hash) const {
  std::size_t segment = 0;
  if (const CachedKey* const entry = find_text(key, hash, segment)) {
    if (view_.use != 0) count_use(*entry, segment);
    return entry->id;
  }
  return find_in_index(key, hash);
}

std::optional<storage::SeriesId> SeriesCache::Reader::find_in_order(const SeriesKey& key,
                                                                    std::uint64_t hash) {
  std::size_t segment = 0;
  const CachedKey* const entry = find_text(key, hash, segment);
  if (entry == nullptr) {
    lose_order();
    return find_in_index(key, hash);
  }
  if (segment != segment_) lose_order();
  segment_ = segment;
  if (last_ != nullptr && expected_ != entry) {
    last_->next.store(entry, std::memory_order_release);
  }
  step(entry);
  return entry->id;
}

}  // namespace halite::ingest
