// From the bytes of metric and tags, exactly as a sender wrote them, to the series' id.
//
// The usual point finds its series here without its tags being taken apart. Keys are compared in
// full: equal hashes never make equal series. Agents repeat their lines to the byte, so one series
// rarely has more than a few keys.
//
//   Memory   two generations of at most half of bytes_max each. When the younger is full it becomes
//            the older and what was the older goes; a key found in the older moves to the younger.
//            So what is in use stays, and nothing is written on a look-up in the younger.
//   Threads  any number may look up and insert. A look-up takes no lock; an insert takes its
//            shard's. A Reader belongs to one thread at a time and holds its generations alive:
//            keep it while points are read in, not while somebody waits.
//   Cost     a look-up in the younger generation allocates nothing.
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

// The grammar that makes sense of a key's bytes: equal bytes of two grammars are two keys.
enum class KeyGrammar : std::uint8_t {
  kPutLine,
  kJson,
  kNames,  // not a sender's bytes: the series' own names, for points that came in an unusual form
};

struct SeriesKey {
  KeyGrammar grammar = KeyGrammar::kPutLine;
  std::string_view metric;
  std::string_view tags;
};

// Bytes of keys, kept once for all keys that have them; they follow in memory.
struct CachedText {
  std::uint64_t hash = 0;
  std::uint32_t bytes = 0;

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(this + 1), bytes};
  }
};

// A key and its id as the cache keeps them. Nothing of it changes once it can be seen, but for what
// follows it.
struct CachedKey {
  std::uint64_t hash = 0;
  // The key that was found after this one, the last time: agents send the same series in the same
  // order. Of the same generation.
  mutable std::atomic<const CachedKey*> next = nullptr;
  // The one found a few keys after this one, likewise: to ask memory for it in time.
  mutable std::atomic<const CachedKey*> later = nullptr;
  // Of the same generation, too: the metrics of one host share the bytes of its tags.
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

  // 0 bytes: no cache at all. The seed keeps strangers from choosing keys that collide.
  SeriesCache(std::size_t bytes_max, std::uint64_t seed);
  ~SeriesCache();
  SeriesCache(const SeriesCache&) = delete;
  SeriesCache& operator=(const SeriesCache&) = delete;

  [[nodiscard]] std::uint64_t hash(const SeriesKey& key) const;

  [[nodiscard]] Reader reader();

  // A key that is there already keeps its id. A key too large for the cache is left out, and so is
  // what was found out before the cache was last cleared: `epoch` is from before the look-up.
  void insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id, std::uint64_t epoch);

  // Forgets everything: names have changed their meaning.
  void clear();
  [[nodiscard]] std::uint64_t epoch() const;  // changes with every clear()
  // clear(), once for all who call it with the same epoch of the store's holds or an earlier one:
  // what was known of ids before may mean others now.
  void clear_before(std::uint64_t store_epoch);

  [[nodiscard]] std::size_t bytes() const;  // of both generations
  [[nodiscard]] std::size_t keys() const;   // a key in both generations counts twice

 private:
  class Half;
  struct View {
    std::shared_ptr<Half> young;
    std::shared_ptr<Half> old;
    std::uint64_t epoch = 0;
  };

  [[nodiscard]] View view() const;
  // Makes room, unless somebody else did since `full` was the younger.
  void rotate(const Half* full);

  const std::size_t half_bytes_max_;
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> rotations_{0};    // changes with view_
  std::atomic<std::uint64_t> store_epoch_{0};  // since when nothing is from before it
  std::mutex clearing_;                        // held by clear_before()
  mutable std::mutex mutex_;
  View view_;  // guarded by mutex_
};

class SeriesCache::Reader {
 public:
  // Ask memory for what find() will read: the slots of a whole group, then the entries of all of
  // them, then their texts, then find().
  void prefetch_slot(std::uint64_t hash) const;
  void prefetch_entry(std::uint64_t hash) const;
  void prefetch_text(const SeriesKey& key, std::uint64_t hash) const;

  [[nodiscard]] std::optional<storage::SeriesId> find(const SeriesKey& key,
                                                      std::uint64_t hash) const;

  // The key that most likely comes next, after the last one found in order; null: nobody knows.
  // Where a sender's bytes are equal to it, nothing has to be looked up.
  [[nodiscard]] const CachedKey* expected() const { return expected_; }
  // It came indeed.
  void take_expected() { step(expected_); }
  // As find(), and keeps in mind what came after what. Rewrites the order only where it changed.
  [[nodiscard]] std::optional<storage::SeriesId> find_in_order(const SeriesKey& key,
                                                               std::uint64_t hash);

  // Sees what was inserted since, and lets go of generations that the cache has dropped.
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
    // What was asked for some steps ago is there now, and says what to ask for next.
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
  const CachedKey* last_ = nullptr;      // found in order; of view_.younger
  const CachedKey* expected_ = nullptr;  // of view_.younger
  static constexpr std::size_t kAhead = 4;
  std::array<const CachedKey*, kAhead> recent_{};  // found in order, the last ones; likewise
  std::size_t steps_ = 0;
};

}  // namespace halite::ingest
