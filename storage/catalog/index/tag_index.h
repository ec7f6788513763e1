// The inverted index: tags and tag sets, each stored once, and the tag sets that contain a tag.
//
// Filters match tag sets, independent of the number of metrics that share them. series_table.h
// knows the tag sets of each metric.
//
//   Threads   call from any thread.
//   Order     what add() has returned is in every later result.
//   Lifetime  addresses are stable; removed objects stay unchanged until reclaim().
//
// Over 140 lines because metrics, tags and tag sets refer to each other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <roaring/roaring.hh>

#include "common/bytes/bytes.h"
#include "common/page_table.h"
#include "storage/api/series.h"
#include "storage/catalog/index/posting_list.h"

namespace halite::storage {

class TagIndex {
 public:
  explicit TagIndex(std::size_t sets_max);
  TagIndex(const TagIndex&) = delete;
  TagIndex& operator=(const TagIndex&) = delete;

  // `bytes`: the part of a tsuid after the metric uid.
  [[nodiscard]] const TagSet* find(BytesView bytes) const;

  // Returns the set of these tags. `bytes` encodes these tags in this order.
  struct Added {
    const TagSet* set = nullptr;
    bool made = false;  // created by this call
  };
  Added add(BytesView bytes, std::span<const SeriesTag> tags);

  [[nodiscard]] const TagSet& at(TagSetId id) const;

  // The number of series with the set, which the series table counts.
  static void count_series(const TagSet& set) { set.series_.fetch_add(1); }
  [[nodiscard]] static bool uncount_series(const TagSet& set) {  // true: it was the last
    return set.series_.fetch_sub(1) == 1;
  }

  // Removed from the index; readers with older pins may still use them.
  struct Removed {
    std::vector<const TagSet*> sets;
    std::vector<SharedTag*> tags;
  };
  // Removes a set, and those of its tags that no other set has. No add() may run meanwhile.
  void remove(const TagSet& set, Removed& removed);
  // Call when no reader uses these any more: frees their memory and ids for reuse.
  void reclaim(const Removed& removed);

  // Tags show the new name from now on, also new tags made with the old one.
  void rename(NameKind kind, std::uint64_t uid, std::string_view name);

  // Adds the uids of all keys and values.
  void add_uids(IdSet& keys, IdSet& values) const;
  // Call when a name is removed and no tag has it: its id may be assigned again.
  void release_name(NameKind kind, std::uint64_t uid);

  // The number of sets that contain a tag, and their ids.
  [[nodiscard]] std::uint32_t count(std::uint64_t key_uid, std::uint64_t value_uid) const;
  void add_sets(std::uint64_t key_uid, std::uint64_t value_uid, IdSet& to) const;

  // The number of distinct values of a key.
  [[nodiscard]] std::size_t values(std::uint64_t key_uid) const;
  // The keys that sets have.
  [[nodiscard]] std::vector<std::uint64_t> key_uids() const;
  // A tag for each value of a key, as it is shown now.
  [[nodiscard]] std::vector<const SeriesTag*> values_of(std::uint64_t key_uid) const;
  // Adds the sets whose value of the key passes. Calls `passes` once for each value.
  void add_sets_if(std::uint64_t key_uid, const std::function<bool(const SeriesTag&)>& passes,
                   IdSet& to) const;

 private:
  struct IndexedTag : SharedTag {
    SeriesTag first;          // with the names at its creation
    PostingList sets;         // guarded by its lock_of()
    std::uint32_t place = 0;  // position in its key's list; guarded by keys_mutex_
  };
  struct TagUids {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    bool operator==(const TagUids&) const = default;
  };
  struct TagHash {
    using is_transparent = void;
    std::size_t operator()(const TagUids& uids) const;
    std::size_t operator()(const IndexedTag* tag) const;
  };
  struct TagEqual {
    using is_transparent = void;
    static TagUids uids(const TagUids& of) { return of; }
    static TagUids uids(const IndexedTag* of) { return {of->first.key_uid, of->first.value_uid}; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return uids(a) == uids(b);
    }
  };
  struct TagShard {
    mutable std::shared_mutex mutex;
    boost::unordered_flat_set<IndexedTag*, TagHash, TagEqual> tags;  // guarded by mutex
    std::deque<IndexedTag> made;                                     // guarded by mutex
    std::vector<IndexedTag*> unused;                                 // of made; guarded by mutex
    std::deque<SeriesTag> renamed;                                   // guarded by mutex
    IndexedTag& make();
  };

  struct SetKey {
    BytesView bytes;
    std::uint32_t hash = 0;
  };
  struct SetHash {
    using is_transparent = void;
    std::size_t operator()(const SetKey& key) const { return key.hash; }
    std::size_t operator()(const TagSet* set) const { return set->hash_; }
  };
  struct SetEqual {
    using is_transparent = void;
    bool operator()(const TagSet* a, const TagSet* b) const { return a == b; }
    bool operator()(const SetKey& a, const TagSet* b) const { return a.bytes == b->bytes(); }
    bool operator()(const TagSet* a, const SetKey& b) const { return a->bytes() == b.bytes; }
  };
  struct SetShard {
    mutable std::shared_mutex mutex;
    boost::unordered_flat_set<const TagSet*, SetHash, SetEqual> sets;  // guarded by mutex
    std::vector<std::unique_ptr<char[]>> slabs;                        // guarded by mutex
    std::size_t slab_bytes = 0;                                        // of the newest slab
    std::size_t slab_used = 0;
    boost::unordered_flat_map<std::size_t, std::vector<char*>> unused;  // by size; guarded by mutex
    char* allocate(std::size_t bytes);
  };
  struct Key {
    std::vector<IndexedTag*> tags;  // one for each value
  };

  friend class TagBatch;

  static constexpr std::size_t kTagShards = 16;
  static constexpr std::size_t kSetShards = 64;
  static constexpr std::size_t kPageSets = 4096;
  using Page = std::array<std::atomic<const TagSet*>, kPageSets>;

  [[nodiscard]] static SetKey key_of(BytesView bytes);
  // A set that its shard does not have; its posting lists are the caller's. Needs the shard's
  // mutex.
  TagSet* make_set(SetShard& shard, const SetKey& key, std::span<IndexedTag* const> tags);
  [[nodiscard]] static std::size_t memory_of(std::size_t tags, std::size_t bytes);
  void remove(IndexedTag& tag);
  [[nodiscard]] IndexedTag* find_tag(const TagUids& uids) const;
  IndexedTag* tag_of(const SeriesTag& tag);
  IndexedTag* make_tag(const SeriesTag& tag);  // unless another thread did
  [[nodiscard]] std::shared_mutex& lock_of(const IndexedTag* tag) const;
  TagSetId place(const TagSet& set);
  [[nodiscard]] std::string_view newest_name(NameKind kind, std::uint64_t uid,
                                             std::string_view name) const;
  static void show(TagShard& shard, IndexedTag& tag, NameKind kind, std::uint64_t uid,
                   std::string_view name);

  std::array<TagShard, kTagShards> tags_;
  std::array<SetShard, kSetShards> sets_;
  mutable std::array<std::shared_mutex, 64> posting_locks_;

  mutable std::shared_mutex keys_mutex_;
  boost::unordered_flat_map<std::uint64_t, Key> keys_;  // by key uid; guarded by keys_mutex_

  mutable std::shared_mutex renamed_mutex_;
  // By kind and uid, guarded by renamed_mutex_.
  boost::unordered_flat_map<std::pair<NameKind, std::uint64_t>, std::string_view> renamed_;

  std::mutex place_mutex_;
  TagSetId placed_ = 0;               // guarded by place_mutex_
  std::vector<TagSetId> unused_ids_;  // below placed_; guarded by place_mutex_
  PageTable<Page> pages_;
};

}  // namespace halite::storage
