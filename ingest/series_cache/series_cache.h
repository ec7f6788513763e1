// The series cache: from the exact bytes that a sender wrote for metric and tags to a series id.
//
// Most points find their series here, without parsing tags. Keys are compared in full: equal hashes
// do not make equal series. Agents repeat their lines byte by byte, so a series rarely has more
// than a few keys. There are two levels:
//
//   Texts    the keys themselves, in two segments of equal size. The quickest: bytes are compared
//            with bytes, and the next key is predicted.
//   Index    all keys, in a few bytes each (series_cache_index.h). The key is compared with the
//            names of the series. It answers for keys whose texts have no room.
//
//   Memory   at most bytes_max, a quarter of it for the index; and what readers still hold of
//            dropped segments. When both segments are full, further texts are turned away, so that
//            keys of equal frequency keep their share of hits in any order, cyclic ones too.
//            Meanwhile the cache counts how many texts are in use: after 32 keys turned away for
//            each text, it replaces the segment with fewer of them unless seven eighths of its
//            texts are in use, and the other one if less than an eighth is.
//   Threads  look up and insert from any thread. A look-up takes no lock; an insert takes the lock
//            of its shard. A Reader is for one thread at a time. It keeps its segments in memory:
//            hold one while you parse points, not while you wait.
//   Cost     a look-up of a text allocates nothing and, while there is room, writes nothing.
//
// Over 140 lines because a reader looks into the cache.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ingest/series_cache/series_cache_index.h"
#include "ingest/series_cache/series_cache_segment.h"
#include "ingest/series_cache/series_key.h"
#include "storage/api/point_store.h"

namespace halite::ingest {

class SeriesCache {
 public:
  class Reader;

  // 0 bytes disable the cache. The seed stops clients from choosing keys that collide. The index
  // needs `names`, the source of the ids, which must outlive the cache; null: texts only.
  SeriesCache(std::size_t bytes_max, std::uint64_t seed, const storage::PointSink* names = nullptr);
  SeriesCache(const SeriesCache&) = delete;

  [[nodiscard]] std::uint64_t hash(const SeriesKey& key) const;

  // A reader for the holder of a pin. If series were removed since the keys were cached, it removes
  // all keys first, so that none leads to an id that means another series.
  [[nodiscard]] Reader reader(const storage::SeriesPin& pin);

  // An existing key keeps its id. Ignores keys that are too large, and keys looked up before the
  // last clear(): read `epoch` before the look-up.
  void insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id, std::uint64_t epoch);

  // Removes all keys. Call it when names change their meaning.
  void clear();
  [[nodiscard]] std::uint64_t epoch() const;  // changes with every clear()

  // Changes bytes_max. A smaller cache forgets the texts that have no room, and the index if it
  // would fill more than half; look-ups at the same time are safe.
  void resize(std::size_t bytes_max);
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t keys() const;  // whose texts are here

 private:
  static constexpr std::size_t kSegments = 2;
  struct View {
    std::array<std::shared_ptr<CacheSegment>, kSegments> segments;
    std::shared_ptr<SeriesCacheIndex> index;
    std::uint64_t epoch = 0;
    std::uint8_t use = 0;  // number of the current count of texts in use; 0: none, there is room
  };

  [[nodiscard]] View view() const;
  [[nodiscard]] std::shared_ptr<CacheSegment> new_segment() const;  // requires mutex_
  [[nodiscard]] View empty_view(std::uint64_t epoch) const;         // requires mutex_
  // Divides the cache, whose index may fill more than its quarter. Requires mutex_.
  void divide(std::size_t bytes_max, std::size_t index_bytes);
  // Adds a text if there is room.
  void insert_text(const View& view, const SeriesKey& key, std::uint64_t hash,
                   storage::SeriesId id);
  // Texts found no room. Counts texts in use from now on, or ends the count.
  void turned_away(const View& seen, std::uint64_t texts);
  // After a count: replaces segments of which too few texts are in use, and returns the old ones.
  // Requires mutex_.
  [[nodiscard]] std::vector<std::shared_ptr<CacheSegment>> make_room();
  // Calls clear() once for all callers with this epoch of the catalog or an earlier one.
  void clear_before(std::uint64_t store_epoch);

  const std::uint64_t seed_;
  const storage::PointSink* const names_;
  std::atomic<std::uint64_t> turned_away_{0};  // texts, in the current count
  std::atomic<std::uint64_t> changes_{0};      // of view_
  std::atomic<std::uint64_t> store_epoch_{0};  // all keys are from this epoch or later
  std::mutex clearing_;                        // held by clear_before()
  mutable std::mutex mutex_;
  std::size_t segment_bytes_max_ = 0;  // guarded by mutex_
  std::size_t index_bytes_max_ = 0;    // guarded by mutex_
  View view_;                          // guarded by mutex_
  std::uint8_t last_use_ = 0;          // guarded by mutex_
};

class SeriesCache::Reader {
 public:
  // Prefetch what find() will read. For a group of keys call prefetch_slot() for all, then
  // prefetch_entry() for all, then prefetch_text() for all, then find().
  void prefetch_slot(std::uint64_t hash) const;
  void prefetch_entry(std::uint64_t hash) const;
  void prefetch_text(const SeriesKey& key, std::uint64_t hash) const;

  [[nodiscard]] std::optional<storage::SeriesId> find(const SeriesKey& key,
                                                      std::uint64_t hash) const;

  // The likely next key after the last one found in order; null if unknown. If the sender's bytes
  // are equal to it, no look-up is needed.
  [[nodiscard]] const CachedKey* expected() const { return expected_; }
  // Confirms that the expected key came.
  void take_expected() { step(expected_); }
  // Like find(), and records the order of keys. Writes only where the order changed.
  [[nodiscard]] std::optional<storage::SeriesId> find_in_order(const SeriesKey& key,
                                                               std::uint64_t hash);

  // Sees later inserts, and releases segments that the cache has dropped.
  void refresh();

 private:
  friend class SeriesCache;
  explicit Reader(SeriesCache& cache);

  void step(const CachedKey* found) {
    if (view_.use != 0) count_use(*found, segment_);
    const CachedKey*& before = recent_[steps_++ % kAhead];
    if (before != nullptr && before->later.load(std::memory_order_relaxed) != found) {
      before->later.store(found, std::memory_order_release);
    }
    before = found;
    last_ = found;
    expected_ = found->next.load(std::memory_order_acquire);
    __builtin_prefetch(found->later.load(std::memory_order_relaxed));
    if (expected_ == nullptr) return;
    // The prefetch of some steps ago has completed; it gives the next address to prefetch.
    const CachedKey* const second = expected_->next.load(std::memory_order_acquire);
    if (second == nullptr) return;
    const auto* const tags = reinterpret_cast<const char*>(second->tags_text);
    for (std::size_t line = 0; line < 3; ++line) __builtin_prefetch(tags + line * 64);
  }
  void lose_order() {
    last_ = expected_ = nullptr;
    recent_.fill(nullptr);
  }
  void count_use(const CachedKey& found, std::size_t segment) const {
    if (found.use.load(std::memory_order_relaxed) != view_.use) add_to_use(found, segment);
  }
  void add_to_use(const CachedKey& found, std::size_t segment) const;
  // Finds an id in the index, and adds the text if there is room.
  [[nodiscard]] std::optional<storage::SeriesId> find_in_index(const SeriesKey& key,
                                                               std::uint64_t hash) const;
  [[nodiscard]] const CachedKey* find_text(const SeriesKey& key, std::uint64_t hash,
                                           std::size_t& segment) const;

  SeriesCache* cache_;
  std::uint64_t changes_;
  View view_;
  std::size_t segment_ = 0;              // of the keys found in order
  const CachedKey* last_ = nullptr;      // found in order
  const CachedKey* expected_ = nullptr;  // in the same segment
  static constexpr std::size_t kAhead = 4;
  std::array<const CachedKey*, kAhead> recent_{};  // the last ones found in order, same segment
  std::size_t steps_ = 0;
};

}  // namespace halite::ingest
