// The series cache: from the exact bytes that a sender wrote for metric and tags to a series id.
//
// Most points find their series here, without parsing tags. Keys are compared in full: equal hashes
// do not make equal series. Agents repeat their lines byte by byte, so a series rarely has more
// than a few keys.
//
//   Memory   a young and an old half, each at most half of bytes_max. When the young half is full,
//            it becomes the old half, and the previous old half is freed. A key found in the old
//            half is copied to the young one, so keys in use stay. A hit in the young half writes
//            nothing.
//   Threads  look up and insert from any thread. A look-up takes no lock; an insert takes the lock
//            of its shard. A Reader is for one thread at a time. It keeps its halves in memory:
//            hold one while you parse points, not while you wait.
//   Cost     a look-up in the young half allocates nothing.
//
// Over 140 lines because the cache and its readers share the layout of an entry.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "storage/api/point_store.h"

namespace halite::ingest {

// The grammar of a key's bytes. Equal bytes of two grammars are two keys.
enum class KeyGrammar : std::uint8_t {
  kPutLine,
  kJson,
  kNames,  // the names of the series instead of a sender's bytes, for uncommon forms of points
};

struct SeriesKey {
  KeyGrammar grammar = KeyGrammar::kPutLine;
  std::string_view metric;
  std::string_view tags;
};

// Bytes that all keys with this text share. The bytes follow in memory.
struct CachedText {
  std::uint64_t hash = 0;
  std::uint32_t bytes = 0;

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(this + 1), bytes};
  }
};

// A key and its id in the cache. After publication only its successors change.
struct CachedKey {
  std::uint64_t hash = 0;
  // The key that followed this one last time: agents send series in a constant order. In the same
  // half as this key.
  mutable std::atomic<const CachedKey*> next = nullptr;
  // A key found a few keys after this one last time, to prefetch it. In the same half.
  mutable std::atomic<const CachedKey*> later = nullptr;
  // Also in the same half. The metrics of one host share the bytes of its tags.
  const CachedText* metric_text = nullptr;
  const CachedText* tags_text = nullptr;
  storage::SeriesId id = 0;
  KeyGrammar grammar = KeyGrammar::kPutLine;

  [[nodiscard]] std::string_view metric() const { return metric_text->text(); }
  [[nodiscard]] std::string_view tags() const { return tags_text->text(); }
};

class SeriesCache {
 public:
  class Reader;

  // 0 bytes disable the cache. The seed stops clients from choosing keys that collide.
  SeriesCache(std::size_t bytes_max, std::uint64_t seed);
  ~SeriesCache();
  SeriesCache(const SeriesCache&) = delete;
  SeriesCache& operator=(const SeriesCache&) = delete;

  [[nodiscard]] std::uint64_t hash(const SeriesKey& key) const;

  [[nodiscard]] Reader reader();

  // An existing key keeps its id. Ignores keys that are too large, and keys looked up before the
  // last clear(): read `epoch` before the look-up.
  void insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id, std::uint64_t epoch);

  // Removes all keys. Call it when names change their meaning.
  void clear();
  [[nodiscard]] std::uint64_t epoch() const;  // changes with every clear()
  // Calls clear() once for all callers with this epoch of the catalog or an earlier one: ids from
  // before may now mean other series.
  void clear_before(std::uint64_t store_epoch);

  [[nodiscard]] std::size_t bytes() const;  // of both halves
  [[nodiscard]] std::size_t keys() const;   // a key in both halves counts twice

 private:
  class Half;
  struct View {
    std::shared_ptr<Half> young;
    std::shared_ptr<Half> old;
    std::uint64_t epoch = 0;
  };

  [[nodiscard]] View view() const;
  // Makes space, unless another thread has replaced `full` as the young half.
  void rotate(const Half* full);

  const std::size_t half_bytes_max_;
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> rotations_{0};    // changes with view_
  std::atomic<std::uint64_t> store_epoch_{0};  // all keys are from this epoch or later
  std::mutex clearing_;                        // held by clear_before()
  mutable std::mutex mutex_;
  View view_;  // guarded by mutex_
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

  // Sees later inserts, and releases halves that the cache has dropped.
  void refresh();

 private:
  friend class SeriesCache;
  explicit Reader(SeriesCache& cache);

  void step(const CachedKey* found) {
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

  SeriesCache* cache_;
  std::uint64_t rotations_;
  View view_;
  const CachedKey* last_ = nullptr;      // found in order; in view_.young
  const CachedKey* expected_ = nullptr;  // in view_.young
  static constexpr std::size_t kAhead = 4;
  std::array<const CachedKey*, kAhead> recent_{};  // the last ones found in order; in view_.young
  std::size_t steps_ = 0;
};

}  // namespace halite::ingest
